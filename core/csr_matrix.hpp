#pragma once

#include "core/shared_array.hpp"
#include "core/types.hpp"

namespace pagerank {

/// A square sparse matrix in compressed sparse row form. Row r holds the elements
/// row_offsets[r] .. row_offsets[r + 1] - 1 of column_indices and values.
struct CsrMatrix {
  SharedArray<EdgeIndex> row_offsets{0};  ///< rows + 1 elements, ascending from 0.
  SharedArray<NodeId> column_indices;     ///< Ascending within a row; repeats add up.
  SharedArray<double> values;             ///< One an element, or empty: then every element is 1.

  [[nodiscard]] NodeId row_count() const {
    return row_offsets.empty() ? 0 : static_cast<NodeId>(row_offsets.size() - 1);  // moved: none
  }
  [[nodiscard]] EdgeIndex element_count() const { return column_indices.size(); }

  /// Throws std::invalid_argument, naming the first rule of the above that does not hold.
  void validate() const;
};

}  // namespace pagerank
