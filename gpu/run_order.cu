// Segments, and the runs of each in the order of their length.
#include "gpu/run_order.cuh"

#include "gpu/late_stream.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

/// The first run of each segment, of row blocks that begin as said (see find_first_rows()):
/// bounds[b * windows + w], and the end of each window's runs for b = blocks.
__global__ void bound_segments(std::uint64_t blocks, std::uint32_t windows,
                               const NodeId* block_rows, const std::uint32_t* block_runs,
                               const std::uint64_t* window_runs, const NodeId* row_of_run,
                               std::uint32_t* bounds) {
  const std::uint64_t index = global_thread_index();
  if (index >= (blocks + 1) * windows) return;
  const std::uint64_t block = index / windows, window = index % windows;
  const std::uint64_t begin = window_runs[window], runs = window_runs[window + 1] - begin;
  std::uint64_t bound = begin + runs;
  if (block < blocks) {
    bound = begin + lower_bound(row_of_run + begin, runs, block_rows[block]);
    if (const std::uint64_t from = block_runs[block]; from > bound) {
      const std::uint64_t end = begin + upper_bound(row_of_run + begin, runs, block_rows[block]);
      bound = min(from, end);
    }
  }
  bounds[index] = static_cast<std::uint32_t>(bound);
}

/// Segments of one row block from their bounds; a warp a row block.
__global__ void make_segments(std::uint64_t blocks, std::uint32_t windows,
                              const std::uint32_t* bounds, const std::uint64_t* window_runs,
                              Segment* segments) {
  const std::uint64_t block = global_thread_index() / warp_size;
  if (block >= blocks) return;
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t slot = 1;
  for (std::uint32_t first = 0; first < windows; first += warp_size) {
    const std::uint32_t window = first + lane;
    const std::uint64_t index = block * windows + window;
    const std::uint32_t begin = window < windows ? bounds[index] : 0;
    const std::uint32_t length = window < windows ? bounds[index + windows] - begin : 0;
    const std::uint32_t through = sum_through_lane(length, lane);
    if (window < windows) {
      segments[index] = {static_cast<std::uint32_t>(begin - window_runs[window]),
                         static_cast<std::uint16_t>(length),
                         static_cast<std::uint16_t>(slot + through - length)};
    }
    slot += __shfl_sync(full_warp, through, warp_size - 1);
  }
}

/// Turns the counts of a warp's bins into the bins' beginnings.
__device__ void turn_into_beginnings(std::uint32_t* count, unsigned lane) {
  constexpr unsigned bins_per_lane = longest_list / warp_size;
  std::uint32_t mine[bins_per_lane], sum = 0;
  for (unsigned k = 0; k < bins_per_lane; ++k) {
    mine[k] = count[lane * bins_per_lane + k];
    sum += mine[k];
  }
  std::uint32_t before = sum_through_lane(sum, lane) - sum;
  __syncwarp();
  for (unsigned k = 0; k < bins_per_lane; ++k) {
    count[lane * bins_per_lane + k] = before;
    before += mine[k];
  }
}

/// Every 32nd run from `first` on, as far as they are below `end`.
template <unsigned count>
struct SomeRuns {
  std::uint32_t begin[count], length[count];
  unsigned bin[count];  ///< By length, or down; longest_list: no run.

  __device__ SomeRuns(const std::uint32_t* run_begin, std::uint32_t first, std::uint32_t end,
                      bool down) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      const std::uint32_t run = min(first + k * warp_size, end - 1);
      begin[k] = run_begin[run];
      length[k] = run_begin[run + 1] - begin[k];
      const unsigned of_length = down ? longest_list - length[k] : length[k] - 1;
      bin[k] = first + k * warp_size < end ? of_length : longest_list;
    }
  }
};

/// The runs of a segment in the order of their length, up or down: begins[s] = where that at place
/// s does, lengths[s] its length; slots[run] = where its partial sum is found by the row block.
/// Stable; a warp a segment.
__global__ void order_segments(std::uint64_t segments, std::uint32_t windows,
                               const std::uint32_t* bounds, const Segment* segment_at,
                               const std::uint32_t* run_begin, std::uint32_t* begins,
                               std::uint16_t* slots, std::uint16_t* lengths) {
  constexpr unsigned lists = longest_list;
  constexpr unsigned warps = 8, bins_per_lane = lists / warp_size;
  __shared__ std::uint32_t counts[warps][lists];
  const std::uint64_t segment = global_thread_index() / warp_size;
  if (segment >= segments) return;
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t* const count = counts[threadIdx.x / warp_size];
  const std::uint32_t begin = bounds[segment], end = bounds[segment + windows];
  if (begin == end) return;
  const std::uint32_t first_slot = segment_at[segment].slot;
  // Neighbouring row blocks sort up and down in turn: a slice across both has lists alike.
  const bool down = segment / windows % 2 == 1;
  for (unsigned k = 0; k < bins_per_lane; ++k) count[k * warp_size + lane] = 0;
  __syncwarp();
  constexpr unsigned at_once = 4;  // all on their way before the first is looked at
  constexpr unsigned runs_at_once = at_once * warp_size;
  for (std::uint32_t first = begin; first < end; first += runs_at_once) {
    const SomeRuns<at_once> runs(run_begin, first + lane, end, down);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (runs.bin[k] < lists) atomicAdd(count + runs.bin[k], 1);
    }
  }
  __syncwarp();
  turn_into_beginnings(count, lane);
  __syncwarp();
  for (std::uint32_t first = begin; first < end; first += runs_at_once) {
    const SomeRuns<at_once> runs(run_begin, first + lane, end, down);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t run = first + k * warp_size + lane;
      const unsigned bin = runs.bin[k];
      const unsigned alike = __match_any_sync(full_warp, bin);
      const unsigned rank = __popc(alike & ((1U << lane) - 1));
      if (run < end) {
        const std::uint32_t target = begin + count[bin] + rank;
        begins[target] = runs.begin[k];
        slots[run] = static_cast<std::uint16_t>(first_slot + (target - begin));
        lengths[target] = static_cast<std::uint16_t>(runs.length[k]);
      }
      __syncwarp();
      if (run < end && rank == 0) count[bin] += __popc(alike);
      __syncwarp();
    }
  }
}

}  // namespace

RunOrder order_runs(Runs& runs, const RunsByRow& by_row, const RowBlockCut& cut,
                    const BlockedShape& shape, std::uint32_t windows, const ScratchMemory& memory,
                    DeviceAlgorithms& algorithms, Event& last_step) {
  const ScratchMemory& scratch = algorithms.scratch();
  cudaStream_t stream = algorithms.stream();
  const std::uint64_t blocks = cut.blocks;
  DeviceBuffer<NodeId> block_rows(blocks, scratch);
  DeviceBuffer<std::uint32_t> block_runs(blocks, scratch);
  find_first_rows(by_row, cut, shape, block_rows.data(), block_runs.data(), stream);
  DeviceBuffer<std::uint32_t> bounds((blocks + 1) * windows, scratch);
  bound_segments<<<blocks_for(bounds.size(), block_size), block_size, 0, stream>>>(
      blocks, windows, block_rows.data(), block_runs.data(), runs.of_window.data(), runs.row.data(),
      bounds.data());
  PAGERANK_CUDA_LAUNCHED(bound_segments);
  runs.row = {};

  RunOrder order;
  order.segments = DeviceBuffer<Segment>(blocks * windows, memory);
  make_segments<<<blocks_for(blocks * warp_size, block_size), block_size, 0, stream>>>(
      blocks, windows, bounds.data(), runs.of_window.data(), order.segments.data());
  PAGERANK_CUDA_LAUNCHED(make_segments);
  order.begin_at = DeviceBuffer<std::uint32_t>(runs.count, scratch);
  order.slots = DeviceBuffer<std::uint16_t>(runs.count, scratch);
  order.lengths = DeviceBuffer<std::uint16_t>(runs.count, scratch);
  last_step.record(stream);
  be_late_if_asked(LayoutStream::first, stream);
  order_segments<<<blocks_for(blocks * windows * warp_size, block_size), block_size, 0, stream>>>(
      blocks * windows, windows, bounds.data(), order.segments.data(), runs.begin.data(),
      order.begin_at.data(), order.slots.data(), order.lengths.data());
  PAGERANK_CUDA_LAUNCHED(order_segments);
  order.under_way = {std::move(bounds), std::move(runs.begin)};
  return order;
}

}  // namespace pagerank::gpu
