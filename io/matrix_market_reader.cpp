#include "io/matrix_market_reader.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "io/matrix_market_entries.hpp"

namespace pagerank::io {
namespace {

/// Hands out whole lines of a source, as many at a time as a buffer of 1 MiB holds.
class LineBlocks {
 public:
  explicit LineBlocks(ByteSource& source) : source_(source) {}

  /// The next lines; the last line of the input may lack its newline. Empty at the end.
  /// `line` is the number of the block's first line, for messages.
  std::string_view next(std::uint64_t line) {
    for (;;) {
      std::memmove(buffer_.data(), buffer_.data() + taken_, filled_ - taken_);
      filled_ -= taken_;
      taken_ = 0;
      const std::size_t got = source_.read({buffer_.data() + filled_, buffer_.size() - filled_});
      filled_ += got;
      const std::string_view text(buffer_.data(), filled_);
      if (filled_ < buffer_.size()) {  // the end of the input
        taken_ = filled_;
        return text;
      }
      const std::size_t newline = text.rfind('\n');
      if (newline != std::string_view::npos) {
        taken_ = newline + 1;
        return text.substr(0, taken_);
      }
      shorten_long_line(text, line);
    }
  }

 private:
  /// One line fills the whole buffer: comments and blanks may, nothing else does.
  void shorten_long_line(std::string_view text, std::uint64_t line) {
    const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
    if (line == 1) throw LineFault{line, ParseFault::bad_banner, "found " + quoted(text)};
    if (first != text.end() && *first != '%') {
      throw LineFault{line, ParseFault::line_too_long, ""};
    }
    // Keep a beginning that still tells a comment from a blank line.
    buffer_[0] = first == text.end() ? ' ' : '%';
    filled_ = 1;
  }

  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  ByteSource& source_;
  std::vector<char> buffer_ = std::vector<char>(buffer_bytes);
  std::size_t filled_ = 0;  ///< Bytes in the buffer,
  std::size_t taken_ = 0;   ///< of which so many were handed out.
};

std::string_view cut_line(std::string_view& text) {
  const std::size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  return line;
}

/// Room for the entries that the header declares, but no more than the bytes can hold. Only a hint:
/// a file with holes claims bytes that it does not have.
void reserve(EdgeList& edges, const MatrixMarketHeader& header, const ByteSource& source) try {
  constexpr std::uint64_t shortest_entry = 4;  // "1 1\n"
  const std::uint64_t most = source.size().value_or(0) / shortest_entry + 1;
  const auto entries = static_cast<std::size_t>(std::min(header.entries, most));
  edges.sources.reserve(entries);
  edges.targets.reserve(entries);
  if (header.field != MatrixMarketHeader::Field::pattern) edges.weights.reserve(entries);
} catch (const std::bad_alloc&) {
  edges.sources.shrink_to_fit();  // they grow as entries come
  edges.targets.shrink_to_fit();
}

MatrixMarketGraph read(ByteSource& source, SourceIndex source_index) {
  LineBlocks blocks(source);
  MatrixMarketHeaderParser header_parser;
  std::optional<MatrixMarketHeader> header;
  std::string_view text;
  while (!header) {
    if (text.empty()) text = blocks.next(header_parser.lines() + 1);
    if (text.empty()) header_parser.end_of_input();
    header = header_parser.feed(cut_line(text));
  }

  MatrixMarketGraph graph{*header, {}};
  graph.edges.node_count = static_cast<NodeId>(header->node_count);
  graph.edges.undirected = header->symmetric;
  reserve(graph.edges, *header, source);
  const bool weighted = header->field != MatrixMarketHeader::Field::pattern;
  const auto sink = [&graph, source_index, weighted](NodeId row, NodeId column, double weight) {
    graph.edges.add_entry(source_index, row, column);
    if (weighted) graph.edges.weights.push_back(weight);
  };
  std::uint64_t lines = header->lines;
  for (;; text = {}) {
    if (text.empty()) text = blocks.next(lines + 1);
    if (text.empty()) break;
    EntriesResult result =
        parse_entries(text, *header, header->entries - graph.edges.entry_count(), sink);
    if (result.fault) {
      result.fault->line += lines;
      throw *std::move(result.fault);
    }
    lines += result.lines;
  }
  if (graph.edges.entry_count() < header->entries) {
    throw LineFault{lines, ParseFault::too_few_entries,
                    "found " + std::to_string(graph.edges.entry_count()) + " of " +
                        std::to_string(header->entries)};
  }
  return graph;
}

}  // namespace

MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index) {
  try {
    return read(source, source_index);
  } catch (const LineFault& fault) {
    throw ParseError(source.name(), fault.line, fault.fault, fault.detail);
  }
}

}  // namespace pagerank::io
