#include "tests/simple_reader.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "io/line_blocks.hpp"
#include "io/matrix_market_entries.hpp"

namespace pagerank::tests {
namespace {

using io::LineFault;
using io::ParseFault;

/// A line that is long may be blank at the front of it, or a comment.
void require_short(std::string_view line, std::uint64_t number) {
  if (line.size() < io::LineBlocks::longest_line) return;
  const std::string_view front = line.substr(0, io::LineBlocks::longest_line);
  if (number == 1) throw LineFault{1, ParseFault::bad_banner, "found " + io::quoted(front)};
  const auto first = std::find_if_not(front.begin(), front.end(), io::is_blank);
  if (first != front.end() && *first != '%') {
    throw LineFault{number, ParseFault::line_too_long, ""};
  }
}

io::MatrixMarketGraph read(std::string_view text, SourceIndex source_index) {
  io::MatrixMarketHeaderParser header_parser;
  std::optional<io::MatrixMarketHeader> header;
  EdgeList edges;
  std::uint64_t lines = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    require_short(line, ++lines);
    if (!header) {
      header = header_parser.feed(line);
      continue;
    }
    try {
      const std::optional<io::MatrixEntry> entry = io::parse_entry_line(line, *header);
      if (!entry) continue;
      if (edges.entry_count() == header->entries) {
        throw LineFault{1, ParseFault::too_many_entries,
                        std::to_string(header->entries) + " were declared"};
      }
      edges.add_entry(source_index, entry->first, entry->second);
      if (header->field != io::MatrixMarketHeader::Field::pattern) {
        edges.weights.push_back(entry->weight);
      }
    } catch (LineFault& fault) {
      fault.line = lines;
      throw;
    }
  }
  if (!header) header_parser.end_of_input();
  if (edges.entry_count() < header->entries) {
    throw LineFault{
        lines, ParseFault::too_few_entries,
        "found " + std::to_string(edges.entry_count()) + " of " + std::to_string(header->entries)};
  }
  edges.node_count = static_cast<NodeId>(header->node_count);
  edges.undirected = header->symmetric;
  return {*header, std::move(edges)};
}

}  // namespace

io::MatrixMarketGraph simple_read(const std::string& text, const std::string& name,
                                  SourceIndex source_index) {
  try {
    return read(text, source_index);
  } catch (const LineFault& fault) {
    throw io::ParseError(name, fault.line, fault.fault, fault.detail);
  }
}

}  // namespace pagerank::tests
