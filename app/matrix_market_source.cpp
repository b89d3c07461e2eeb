#include "app/matrix_market_source.hpp"

namespace pagerank::app {

using Weights = gpu::EntryFormat::Weights;

gpu::EntryTextShape MatrixMarketSource::shape() const {
  const io::MatrixMarketHeader& header = reader_.header();
  const bool sized = reader_.shape().expected_entries > 0;
  return {
      .format = {.node_count = static_cast<NodeId>(header.node_count),
                 .weights = header.field == io::MatrixMarketHeader::Field::pattern ? Weights::none
                            : header.field == io::MatrixMarketHeader::Field::real  ? Weights::real
                                                                                  : Weights::whole},
      .symmetric = header.symmetric,
      .declared_entries = header.entries,
      .expected_entries = sized ? reader_.shape().expected_entries : header.entries,
      .entries_are_there = sized};
}

std::optional<gpu::TextBlock> MatrixMarketSource::next(const BufferOf& buffer_of) {
  const std::size_t first = blocks_.first_block();
  const std::optional<io::LineBlock> block =
      blocks_.next([&](std::size_t index) { return buffer_of(index - first); });
  if (!block) return std::nullopt;
  return gpu::TextBlock{block->index - first, block->text, block->error};
}

std::optional<gpu::ParsedEntry> MatrixMarketSource::parse_line(std::string_view line) const {
  const std::optional<io::MatrixEntry> entry = blocks_.parse_line(line);
  if (!entry) return std::nullopt;
  return gpu::ParsedEntry{entry->first, entry->second, entry->weight};
}

void MatrixMarketSource::accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) {
  blocks_.accept(block + blocks_.first_block(), lines, entries);
}

void MatrixMarketSource::inspect(const gpu::TextBlock& block) {
  blocks_.inspect({block.index + blocks_.first_block(), block.text, block.error});
}

}  // namespace pagerank::app
