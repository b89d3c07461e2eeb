#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "gpu/matrix_sampler.hpp"

namespace pagerank::gpu {

/// Some rows, such that each link of the matrix counts alike: where their links lead, of long rows
/// some of them, enough to see nearly all windows that they fall into.
struct RowSample {
  std::vector<std::uint64_t> begins;  ///< Each row's first in `links`; rows + 1.
  std::vector<EdgeIndex> links;
  std::vector<NodeId> columns;
  std::vector<EdgeIndex> lengths;  ///< Of the rows in the matrix.

  static constexpr std::size_t usual_rows = 256;
  [[nodiscard]] static std::size_t most_columns(std::uint64_t nodes);  ///< Of a row.

  /// The windows of `window_size` that links of a row fall into, per link, `places` being those of
  /// the columns in an order of all `nodes`.
  [[nodiscard]] double runs_per_link(const std::vector<NodeId>& places, std::uint64_t nodes,
                                     std::uint32_t window_size) const;
  /// The same, to be expected where links lead to any node alike.
  [[nodiscard]] double runs_per_random_link(std::uint64_t nodes, std::uint32_t window_size) const;
};
/// So many rows at most, evenly apart by links.
[[nodiscard]] RowSample sample_rows(const MatrixSampler& matrix,
                                    std::size_t most_rows = RowSample::usual_rows);

}  // namespace pagerank::gpu
