#pragma once

#include <optional>
#include <string_view>

#include "core/edge_list.hpp"
#include "core/labelled_links.hpp"
#include "core/transition_builder.hpp"
#include "io/byte_source.hpp"
#include "io/graph_text.hpp"
#include "io/matrix_market_entries.hpp"
#include "io/matrix_market_header.hpp"
#include "io/text_blocks.hpp"

namespace pagerank::io {

/// Reads a Matrix Market file as a graph: its header when constructed, then the entries, once.
/// Several threads parse blocks of the text side by side. Errors are those of reading line by line:
/// ParseError for the first bad line of the file, InputError if the bytes before it, or of its
/// block, cannot be had. A stream that stays open and silent may keep an error until it goes on or
/// ends.
class MatrixMarketReader {
 public:
  /// `source` has to outlive it.
  explicit MatrixMarketReader(ByteSource& source, const ReadOptions& options = {});

  [[nodiscard]] const MatrixMarketHeader& header() const { return header_; }

  /// The entries in the file's order. Memory grows with the entries that are there, not with what
  /// the header claims.
  [[nodiscard]] EdgeList read_edges(SourceIndex source_index);

  /// What a builder of this graph has to know. It expects as many entries as the header declares,
  /// but no more than the bytes of the file can hold, and none from a stream.
  [[nodiscard]] TransitionMatrixBuilder::Shape shape() const;

  /// The same for a builder that is read into, which takes addresses for what it expects, and
  /// memory for what comes: the header is believed of a compressed file and of a stream as well,
  /// within what such a file usually holds, or 2^30 entries.
  [[nodiscard]] TransitionMatrixBuilder::Shape believed_shape() const;

  /// Hands the entries to a builder of that shape. Nothing is said of it if this throws.
  void read_into(TransitionMatrixBuilder& builder, SourceIndex source_index);

  /// Whether there are so many nodes, and so few entries, that rows for the nodes that occur in
  /// entries, half of all at most, and one for the others take less than a row a node would: memory
  /// is what the entries ask for then, whatever the header says.
  [[nodiscard]] bool hardly_linked() const {
    constexpr std::uint64_t many_nodes = 1 << 20;
    return header_.node_count >= many_nodes && header_.node_count / 4 >= header_.entries;
  }

  /// In place of the other, of such a graph: hands on the entries, nodes called by their numbers in
  /// the file, from 1 on.
  void read_into(LabelledLinks& links, SourceIndex source_index);

 private:
  friend class MatrixMarketBlocks;

  [[nodiscard]] bool weighted() const {
    return header_.field != MatrixMarketHeader::Field::pattern;
  }
  [[nodiscard]] EdgeIndex entries_in(std::uint64_t bytes) const;

  template <class Take>
  void read_entries(BlockLedger& ledger, Take take);

  GraphText text_;
  MatrixMarketHeader header_;
};

/// The lines behind the header for a parser that is elsewhere.
class MatrixMarketBlocks final : public TextBlocks {
 public:
  /// The reader, which has read nothing but its header, outlives this.
  explicit MatrixMarketBlocks(MatrixMarketReader& reader)
      : TextBlocks(reader.text_, reader.header_.entries), header_(reader.header_) {}

 private:
  [[nodiscard]] std::optional<AnyEntry> entry_on(std::string_view line) const override;
  void parse_into(BlockLedger& ledger, const LineBlock& block) const override;

  const MatrixMarketHeader& header_;
};

struct MatrixMarketGraph {
  MatrixMarketHeader header;
  EdgeList edges;
};

/// Reads a whole Matrix Market file with MatrixMarketReader.
[[nodiscard]] MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index,
                                                   const ReadOptions& options = {});

}  // namespace pagerank::io
