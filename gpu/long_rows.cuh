#pragma once

#include "gpu/blocked_layout.cuh"
#include "gpu/row_blocks.cuh"
#include "gpu/run_order.cuh"

namespace pagerank::gpu {

/// The rows that are no list, having more runs than longest_list, as BlockedLayout has them.
struct LongRows {
  DeviceBuffer<LongRow> rows;
  DeviceBuffer<Giant> giants;
  DeviceBuffer<std::uint32_t> giant_of_piece;
  DeviceBuffer<std::uint16_t> ids;
};

/// Long rows of ordinary blocks, and giants in pieces. `row_at` has the row, in the base order, of
/// each position. Sets long_begin and long_end of the row blocks, which are 0. The lists are in
/// `memory`.
[[nodiscard]] LongRows list_long_rows(const RunsByRow& by_row, const RowBlockCut& cut,
                                      const DeviceBuffer<NodeId>& row_at, const RunSlots& slots,
                                      const BlockedShape& shape, DeviceBuffer<RowBlock>& row_blocks,
                                      const ScratchMemory& memory, DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
