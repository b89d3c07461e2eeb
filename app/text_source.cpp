#include "app/text_source.hpp"

namespace pagerank::app {
namespace {

using Weights = gpu::EntryFormat::Weights;

Weights weights_of(io::MatrixMarketHeader::Field field) {
  switch (field) {
    case io::MatrixMarketHeader::Field::pattern:
      return Weights::none;
    case io::MatrixMarketHeader::Field::real:
      return Weights::real;
    default:
      return Weights::whole;
  }
}

gpu::EntryTextShape shape_of(const io::MatrixMarketReader& reader) {
  const io::MatrixMarketHeader& header = reader.header();
  const std::uint64_t most_entries = reader.shape().expected_entries;  // 0: unknown
  return {.format = {.node_count = static_cast<NodeId>(header.node_count),
                     .weights = weights_of(header.field)},
          .symmetric = header.symmetric,
          .declared_entries = header.entries,
          .expected_entries = most_entries > 0 ? most_entries : header.entries,
          .entries_are_there = most_entries > 0 && most_entries == header.entries};
}

gpu::EntryTextShape shape_of(const io::EdgeListReader& reader) {
  return {.format = {.weights = reader.weighted() ? Weights::real : Weights::none,
                     .labelled = true,
                     .hash_comments = true,
                     .timed = reader.columns() == io::LinkColumns::weights_and_times},
          .expected_entries = reader.expected_links()};
}

}  // namespace

TextSource::TextSource(io::MatrixMarketReader& reader)
    : shape_(shape_of(reader)), blocks_(std::make_unique<io::MatrixMarketBlocks>(reader)) {}

TextSource::TextSource(io::EdgeListReader& reader)
    : shape_(shape_of(reader)), blocks_(std::make_unique<io::EdgeListBlocks>(reader)) {}

std::optional<gpu::TextBlock> TextSource::next(const BufferOf& buffer_of) {
  const std::size_t first = blocks_->first_block();
  const std::optional<io::LineBlock> block =
      blocks_->next([&](std::size_t index) { return buffer_of(index - first); });
  if (!block) return std::nullopt;
  return gpu::TextBlock{block->index - first, block->text, block->error};
}

std::optional<gpu::ParsedEntry> TextSource::parse_line(std::string_view line) const {
  const std::optional<io::TextBlocks::AnyEntry> entry = blocks_->parse_line(line);
  if (!entry) return std::nullopt;
  return gpu::ParsedEntry{entry->first, entry->second, entry->weight};
}

void TextSource::accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) {
  blocks_->accept(block + blocks_->first_block(), lines, entries);
}

void TextSource::inspect(const gpu::TextBlock& block) {
  blocks_->inspect({block.index + blocks_->first_block(), block.text, block.error});
}

void TextSource::require_nodes(std::uint64_t count) const {
  blocks_->require_nodes(count);
}

std::unique_ptr<TextSource> text_source(io::GraphReader& reader) {
  if (reader.matrix_market() != nullptr) {
    return std::make_unique<TextSource>(*reader.matrix_market());
  }
  return std::make_unique<TextSource>(*reader.edge_list());
}

}  // namespace pagerank::app
