#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/blocked_matrix.hpp"
#include "core/cpu_layout.hpp"
#include "core/edge_list.hpp"
#include "core/labelled_links.hpp"
#include "core/transition_builder.hpp"
#include "core/transition_matrix.hpp"
#include "io/byte_source.hpp"
#include "io/edge_list_reader.hpp"
#include "io/graph_format.hpp"
#include "io/graph_text.hpp"
#include "io/matrix_market_reader.hpp"

namespace pagerank::io {

/// From a file of any format to the matrix, in two steps that a caller may time, and refuse memory
/// between.
class GraphReader {
 public:
  /// Reads the header; `source` has to outlive it. Throws as the format's reader does, here and
  /// below.
  GraphReader(ByteSource& source, GraphFormat format, const ReadOptions& options = {});

  /// For a parser that is elsewhere, instead of read(): null if the file is of the other format.
  [[nodiscard]] MatrixMarketReader* matrix_market() {
    return matrix_market_ ? &*matrix_market_ : nullptr;
  }
  [[nodiscard]] EdgeListReader* edge_list() { return edge_list_ ? &*edge_list_ : nullptr; }

  [[nodiscard]] GraphFormat format() const {
    return matrix_market_ ? GraphFormat::matrix_market : GraphFormat::edge_list;
  }
  [[nodiscard]] bool weighted() const;
  [[nodiscard]] bool symmetric() const;
  /// Whether the matrix will have one row for all nodes without links:
  /// TransitionMatrix::more_unlinked.
  [[nodiscard]] bool hardly_linked() const {
    return matrix_market_ && matrix_market_->hardly_linked();
  }

  /// About how many bytes of memory read() will hold when it is done; 0 if the source does not say.
  [[nodiscard]] std::uint64_t expected_bytes() const;

  /// Step one, once: all of the text.
  void read(SourceIndex source_index);

  /// After read(): the rows of the matrix.
  [[nodiscard]] NodeId node_count() const;
  [[nodiscard]] std::uint64_t entry_count() const { return entries_; }  ///< As stored in the file.
  /// Directed, as TransitionMatrixBuilder counts; of hardly_linked() at most.
  [[nodiscard]] EdgeIndex link_count() const;
  /// Of hardly_linked(), one of each row but the last.
  [[nodiscard]] NodeLabels take_labels();

  /// Step two, once.
  [[nodiscard]] TransitionMatrix build();
  /// The same, as TransitionMatrixBuilder has it.
  [[nodiscard]] std::variant<TransitionMatrix, BlockedMatrix> build_for(const LayoutWish& wish);

 private:
  int threads_;
  std::uint64_t pieces_ = 0;  ///< That the text comes in; 0: unknown.
  std::uint64_t entries_ = 0;

  std::optional<MatrixMarketReader> matrix_market_;  ///< One of the two.
  std::optional<EdgeListReader> edge_list_;

  std::optional<TransitionMatrixBuilder> builder_;  ///< Holds what has been read of the first,
  LabelledLinks links_;                             ///< and this of the second, or hardly_linked().
};

/// A graph as a list of its links, however its file is written.
[[nodiscard]] LabelledEdgeList read_graph(ByteSource& source, GraphFormat format,
                                          SourceIndex source_index,
                                          const ReadOptions& options = {});

}  // namespace pagerank::io
