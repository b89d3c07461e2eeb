#include "io/matrix_market_reader.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "io/matrix_market_entries.hpp"

namespace pagerank::io {

MatrixMarketReader::MatrixMarketReader(ByteSource& source, const ReadOptions& options)
    : text_(source, options, {.comment_marks = "%", .has_banner = true}) {
  text_.name_faults([this] {
    MatrixMarketHeaderParser parser;
    std::optional<MatrixMarketHeader> header;
    while (!header) {
      const std::optional<std::string_view> line = text_.peek_line();
      if (!line) parser.end_of_input();
      header = parser.feed(*line);
      text_.drop_line();
    }
    header_ = *header;
  });
}

/// Parses all blocks and calls take(block, entries) for each, on the thread that parsed it.
template <class Take>
void MatrixMarketReader::read_entries(BlockLedger& ledger, Take take) {
  text_.parse_blocks<NodeId>(
      ledger,
      [this](std::string_view text, MatrixEntries& entries) {
        parse_entries(text, header_, entries);
      },
      take);
}

TransitionMatrixBuilder::Shape MatrixMarketReader::shape() const {
  const std::optional<std::uint64_t> size = text_.source().size();
  return {.node_count = static_cast<NodeId>(header_.node_count),
          .weighted = weighted(),
          .undirected = header_.symmetric,
          .expected_entries = size ? entries_in(*size) : 0};
}

TransitionMatrixBuilder::Shape MatrixMarketReader::believed_shape() const {
  constexpr std::uint64_t usually_compressed = 16;  // times at most
  constexpr EdgeIndex of_stream = EdgeIndex{1} << 30;
  TransitionMatrixBuilder::Shape shape = this->shape();
  if (text_.source().size()) return shape;
  const std::optional<std::uint64_t> compressed = text_.source().bytes_to_take();
  shape.expected_entries = compressed ? entries_in(*compressed * usually_compressed)
                                      : std::min(header_.entries, of_stream);
  shape.only_claimed = true;
  return shape;
}

/// No more than are declared, or than text of so many bytes can hold.
EdgeIndex MatrixMarketReader::entries_in(std::uint64_t bytes) const {
  const std::size_t shortest = shortest_entry_line + (weighted() ? 2 : 0);  // "1 1 1\n"
  return std::min(header_.entries, bytes / shortest + 1);
}

void MatrixMarketReader::read_into(TransitionMatrixBuilder& builder, SourceIndex source_index) {
  BlockLedger ledger = text_.ledger(header_.entries);
  read_entries(ledger, [&](std::size_t block, const MatrixEntries& entries) {
    const bool by_row = source_index == SourceIndex::row;
    builder.add(block, by_row ? entries.first : entries.second,
                by_row ? entries.second : entries.first, entries.weights);
  });
}

void MatrixMarketReader::read_into(LabelledLinks& links, SourceIndex source_index) {
  BlockLedger ledger = text_.ledger(header_.entries);
  read_entries(ledger, [&](std::size_t block, const MatrixEntries& entries) {
    const auto labels_of = [](const auto& nodes) {
      std::vector<std::uint64_t> labels(nodes.size());
      std::transform(nodes.begin(), nodes.end(), labels.begin(),
                     [](NodeId node) { return label_of(node, {}); });
      return labels;
    };
    const bool by_row = source_index == SourceIndex::row;
    links.add(block, labels_of(by_row ? entries.first : entries.second),
              labels_of(by_row ? entries.second : entries.first), entries.weights);
  });
}

EdgeList MatrixMarketReader::read_edges(SourceIndex source_index) {
  EdgeList edges;
  edges.node_count = static_cast<NodeId>(header_.node_count);
  edges.undirected = header_.symmetric;
  try {
    const auto entries = static_cast<std::size_t>(shape().expected_entries);
    edges.sources.reserve(entries);
    edges.targets.reserve(entries);
    if (shape().weighted) edges.weights.reserve(entries);
  } catch (const std::bad_alloc&) {  // a file with holes claims bytes that it does not have
    edges.sources.shrink_to_fit();
    edges.targets.shrink_to_fit();
  }
  BlockLedger ledger = text_.ledger(header_.entries);
  read_entries(ledger, [&](std::size_t block, MatrixEntries& entries) {
    if (!ledger.wait_for_turn(block)) return;
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    const bool by_row = source_index == SourceIndex::row;
    append(edges.sources, by_row ? entries.first : entries.second);
    append(edges.targets, by_row ? entries.second : entries.first);
    append(edges.weights, entries.weights);
  });
  return edges;
}

std::optional<TextBlocks::AnyEntry> MatrixMarketBlocks::entry_on(std::string_view line) const {
  const std::optional<MatrixEntry> entry = parse_entry_line(line, header_);
  if (!entry) return std::nullopt;
  return AnyEntry{entry->first, entry->second, entry->weight};
}

void MatrixMarketBlocks::parse_into(BlockLedger& ledger, const LineBlock& block) const {
  MatrixEntries entries;
  if (!block.error) parse_entries(block.view(), header_, entries);
  ledger.finish(block.index, entries, block.error);
}

MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index,
                                     const ReadOptions& options) {
  MatrixMarketReader reader(source, options);
  return {reader.header(), reader.read_edges(source_index)};
}

}  // namespace pagerank::io
