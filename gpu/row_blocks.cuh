#pragma once

#include "gpu/blocked_shape.hpp"
#include "gpu/device_algorithms.cuh"
#include "gpu/link_runs.cuh"

namespace pagerank::gpu {

/// Which row block each row is in, rows in the base order. A giant, a row with more runs than
/// BlockedShape::most_runs_of_row(), has blocks of its own: as many as it needs of
/// BlockedShape::giant_runs_of_block() runs each.
struct RowBlockCut {
  std::uint64_t blocks = 0;
  DeviceBuffer<std::uint32_t> block_of_row;  ///< Of a giant: the first of its blocks.
};

/// Cuts the rows into row blocks, each within a window, so that as many as run at once on so many
/// multiprocessors are done together (see row_block_quotas()). Puts the runs of giants in ascending
/// order.
[[nodiscard]] RowBlockCut cut_row_blocks(RunsByRow& by_row, const BlockedShape& shape,
                                         std::uint32_t multiprocessors,
                                         DeviceAlgorithms& algorithms);

/// Where row blocks begin: block_rows[b] = the first row; of a giant's blocks that row each time,
/// and block_runs[b] = the first run, for all but the first of them. 0 for other blocks. Queued.
void find_first_rows(const RunsByRow& by_row, const RowBlockCut& cut, const BlockedShape& shape,
                     NodeId* block_rows, std::uint32_t* block_runs, cudaStream_t stream);

}  // namespace pagerank::gpu
