#pragma once

#include "core/edge_list.hpp"
#include "core/labelled_links.hpp"
#include "io/byte_source.hpp"
#include "io/edge_list_lines.hpp"
#include "io/graph_text.hpp"
#include "io/text_blocks.hpp"

namespace pagerank::io {

/// Reads an edge list (edge_list_lines.hpp) as a graph of the nodes that its links name. Several
/// threads parse blocks of the text side by side; errors are those of reading line by line, as
/// MatrixMarketReader has them. Which columns the lines have is what the first link says.
class EdgeListReader {
 public:
  /// Reads up to the first link; `source` has to outlive it.
  explicit EdgeListReader(ByteSource& source, const ReadOptions& options = {});

  [[nodiscard]] bool weighted() const { return columns_ != LinkColumns::ids; }

  /// About how many links the file holds: as many as if all of it were like what was read so far.
  /// None from a stream.
  [[nodiscard]] EdgeIndex expected_links() const;

  /// Reads the links, once, and numbers their nodes. `source_index` row: from the first id of a
  /// line to the second. A ParseError says so if there are none, an InputError if the nodes are
  /// too many.
  void read_into(LabelledLinks& links, SourceIndex source_index);

  /// What lines hold.
  [[nodiscard]] LinkColumns columns() const { return columns_; }

 private:
  friend class EdgeListBlocks;

  void require_links(const BlockLedger& ledger) const;
  /// Does something and says of which file it says that nodes are too many.
  template <class Action>
  void name_too_many_nodes(Action action) const;

  GraphText text_;
  int threads_;
  LinkColumns columns_ = LinkColumns::ids;
};

/// The lines from the first link on for a parser that is elsewhere.
class EdgeListBlocks final : public TextBlocks {
 public:
  /// The reader, which has read nothing but what its constructor reads, outlives this.
  explicit EdgeListBlocks(EdgeListReader& reader) : TextBlocks(reader.text_), reader_(reader) {}

  void close() const override;
  void require_nodes(std::uint64_t count) const override;

 private:
  [[nodiscard]] std::optional<AnyEntry> entry_on(std::string_view line) const override;
  void parse_into(BlockLedger& ledger, const LineBlock& block) const override;

  const EdgeListReader& reader_;
};

struct LabelledEdgeList {
  EdgeList edges;
  NodeLabels labels;
};

/// Reads a whole edge list with EdgeListReader.
[[nodiscard]] LabelledEdgeList read_edge_list(ByteSource& source, SourceIndex source_index,
                                              const ReadOptions& options = {});

}  // namespace pagerank::io
