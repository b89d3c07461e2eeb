#include "io/edge_list_reader.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "io/edge_list_lines.hpp"
#include "io/graph_format.hpp"

namespace pagerank::io {

EdgeListReader::EdgeListReader(ByteSource& source, const ReadOptions& options)
    : text_(source, options, edge_list_rules), threads_(options.threads) {
  text_.name_faults([this] {
    bool konect = false;
    while (const std::optional<std::string_view> line = text_.peek_line()) {
      // Below other comments, too: else the size line would be taken for a link.
      if (is_matrix_market_banner(*line)) {
        throw LineFault{text_.lines() + 1, ParseFault::banner_in_edge_list, ""};
      }
      konect = konect || is_konect_header(*line);
      if (const auto columns = columns_of_link_line(*line, konect)) {
        columns_ = *columns;
        return;
      }
      text_.drop_line();
    }
  });
}

EdgeIndex EdgeListReader::expected_links() const {
  const std::string_view read = text_.rest_of_block();
  const std::optional<std::uint64_t> size = text_.source().size();
  if (!size || read.empty()) return 0;
  const auto lines = static_cast<double>(std::count(read.begin(), read.end(), '\n') + 1);
  return static_cast<EdgeIndex>(static_cast<double>(*size) * lines /
                                static_cast<double>(read.size()));
}

void EdgeListReader::read_into(LabelledLinks& links, SourceIndex source_index) {
  BlockLedger ledger = text_.ledger();
  name_too_many_nodes([&] {
    text_.parse_blocks<std::uint64_t>(
        ledger,
        [this](std::string_view text, LinkEntries& entries) {
          parse_links(text, columns_, entries);
        },
        [&](std::size_t block, const LinkEntries& entries) {
          const bool by_row = source_index == SourceIndex::row;
          links.add(block, by_row ? entries.first : entries.second,
                    by_row ? entries.second : entries.first, entries.weights);
        });
    require_links(ledger);
    links.number_nodes(threads_);
  });
}

void EdgeListReader::require_links(const BlockLedger& ledger) const {
  if (ledger.entries() > 0) return;
  throw ParseError(text_.source().name(), std::max<std::uint64_t>(ledger.lines(), 1),
                   ParseFault::no_links, "");
}

template <class Action>
void EdgeListReader::name_too_many_nodes(Action action) const {
  try {
    action();
  } catch (const std::length_error& error) {
    throw InputError(text_.source().name() + ": " + error.what());
  }
}

void EdgeListBlocks::close() const {
  TextBlocks::close();
  reader_.require_links(ledger());
}

void EdgeListBlocks::require_nodes(std::uint64_t count) const {
  reader_.name_too_many_nodes([count] { require_node_count(count); });
}

std::optional<TextBlocks::AnyEntry> EdgeListBlocks::entry_on(std::string_view line) const {
  return parse_link_line(line, reader_.columns_);
}

void EdgeListBlocks::parse_into(BlockLedger& ledger, const LineBlock& block) const {
  LinkEntries entries;
  if (!block.error) parse_links(block.view(), reader_.columns_, entries);
  ledger.finish(block.index, entries, block.error);
}

LabelledEdgeList read_edge_list(ByteSource& source, SourceIndex source_index,
                                const ReadOptions& options) {
  LabelledLinks links;
  EdgeListReader(source, options).read_into(links, source_index);
  return {links.take_edges(), links.take_labels()};
}

}  // namespace pagerank::io
