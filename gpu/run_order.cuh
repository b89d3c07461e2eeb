#pragma once

#include "gpu/blocked_layout.cuh"
#include "gpu/cuda_handles.cuh"
#include "gpu/link_runs.cuh"
#include "gpu/row_blocks.cuh"

namespace pagerank::gpu {

/// Where the runs and their partial sums are: segment by segment, by window and then row block, and
/// in the order of their length within. A run's place is its number in that order.
struct RunOrder {
  DeviceBuffer<Segment> segments;        ///< Row blocks * windows.
  DeviceBuffer<std::uint32_t> begin_at;  ///< Runs::begin of the run at each place.
  DeviceBuffer<std::uint16_t> slots;    ///< Of each run: where its row block finds its partial sum.
  DeviceBuffer<std::uint16_t> lengths;  ///< Of the run at each place, in links.
  struct UnderWay {
    DeviceBuffer<std::uint32_t> bounds, begin;
  };
  UnderWay under_way;  ///< What the last step reads, to be freed behind it.
};

/// Frees runs.row, takes runs.begin; `memory` is the segments'. Queued;
/// `last_step` is reached when the last of the steps, which takes longest, may begin.
[[nodiscard]] RunOrder order_runs(Runs& runs, const RunsByRow& by_row, const RowBlockCut& cut,
                                  const BlockedShape& shape, std::uint32_t windows,
                                  const ScratchMemory& memory, DeviceAlgorithms& algorithms,
                                  Event& last_step);

/// Where the partial sums of a row's runs are found by its row block; i counts runs by row.
struct RunSlots {
  const std::uint32_t* runs_by_row;
  const std::uint16_t* slots;
  [[nodiscard]] __device__ std::uint32_t slot(std::uint64_t i) const {
    return slots[runs_by_row[i]];
  }
};

}  // namespace pagerank::gpu
