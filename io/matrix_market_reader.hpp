#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/edge_list.hpp"
#include "core/transition_builder.hpp"
#include "io/byte_source.hpp"
#include "io/graph_text.hpp"
#include "io/matrix_market_entries.hpp"
#include "io/matrix_market_header.hpp"

namespace pagerank::io {

/// Reads a Matrix Market file as a graph: its header when constructed, then the entries, once.
/// Several threads parse blocks of the text side by side. Errors are those of reading line by line:
/// ParseError for the first bad line of the file, InputError if the bytes before it, or of its
/// block, cannot be had. A stream that stays open and silent may keep an error until it goes on or
/// ends.
class MatrixMarketReader {
 public:
  explicit MatrixMarketReader(ByteSource& source, const ReadOptions& options = {});

  [[nodiscard]] const MatrixMarketHeader& header() const { return header_; }

  /// The entries in the file's order. Memory grows with the entries that are there, not with what
  /// the header claims.
  [[nodiscard]] EdgeList read_edges(SourceIndex source_index);

  /// What a builder of this graph has to know. It expects as many entries as the header declares,
  /// but no more than the bytes of the file can hold, and none from a stream.
  [[nodiscard]] TransitionMatrixBuilder::Shape shape() const;

  /// Hands the entries to a builder of that shape. Nothing is said of it if this throws.
  void read_into(TransitionMatrixBuilder& builder, SourceIndex source_index);

 private:
  friend class MatrixMarketBlocks;

  template <class Take>
  void read_entries(BlockLedger& ledger, Take take);

  GraphText text_;
  MatrixMarketHeader header_;
};

/// The lines behind the header for a parser that is elsewhere: it takes blocks, from several
/// threads, and says for each, in their order, what it made of it or that it is to be looked at
/// here. Errors are those of MatrixMarketReader::read_into().
class MatrixMarketBlocks {
 public:
  /// The reader, which has read nothing but its header, outlives this.
  explicit MatrixMarketBlocks(MatrixMarketReader& reader)
      : reader_(reader), ledger_(reader.text_.ledger(reader.header_.entries)) {}

  [[nodiscard]] std::optional<LineBlock> next(const LineBlocks::BufferOf& buffer_of);
  [[nodiscard]] std::size_t first_block() const { return reader_.text_.first_block(); }

  /// The entry on a line (without its newline); nothing if it is bad. From several threads.
  [[nodiscard]] std::optional<MatrixEntry> parse_line(std::string_view line) const;

  /// So many lines were found in the block, all good, and so many entries.
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) noexcept {
    ledger_.finish(block, lines, entries);
  }
  /// Parses the block here, or takes the error that it came with. Throws what is wrong with the
  /// text up to its end. A newline behind a last line that came without one is none of its own.
  void inspect(const LineBlock& block);

  /// After the last block: throws what is wrong with the text.
  void close() const;

 private:
  MatrixMarketReader& reader_;
  BlockLedger ledger_;
  std::atomic<std::size_t> without_newline_ = SIZE_MAX;  ///< The block whose last line has none.
};

struct MatrixMarketGraph {
  MatrixMarketHeader header;
  EdgeList edges;
};

/// Reads a whole Matrix Market file with MatrixMarketReader.
[[nodiscard]] MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index,
                                                   const ReadOptions& options = {});

}  // namespace pagerank::io
