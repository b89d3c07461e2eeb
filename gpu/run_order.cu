// Segments, and the runs of each in the order of their length.
#include "gpu/run_order.cuh"

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

/// The runs of a segment in the order of their length, up or down: sorted[s] = the run at place s,
/// lengths[s] its length; slots[run] = where its partial sum is found by the row block. Stable; a
/// warp a segment.
__global__ void order_segments(std::uint64_t segments, std::uint32_t windows,
                               const std::uint32_t* bounds, const Segment* segment_at,
                               const std::uint32_t* run_begin, std::uint32_t* sorted,
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
  const auto bin_of = [&](std::uint32_t run) {
    const auto length = run_begin[run + 1] - run_begin[run];
    return down ? lists - length : length - 1;
  };
  for (unsigned k = 0; k < bins_per_lane; ++k) count[k * warp_size + lane] = 0;
  __syncwarp();
  for (std::uint32_t run = begin + lane; run < end; run += warp_size) {
    atomicAdd(count + bin_of(run), 1);
  }
  __syncwarp();
  turn_into_beginnings(count, lane);
  __syncwarp();
  for (std::uint32_t first = begin; first < end; first += warp_size) {
    const std::uint32_t run = first + lane;
    const unsigned bin = run < end ? bin_of(run) : lists;
    const unsigned alike = __match_any_sync(full_warp, bin);
    const unsigned rank = __popc(alike & ((1U << lane) - 1));
    std::uint32_t target = 0;
    if (run < end) {
      target = begin + count[bin] + rank;
      sorted[target] = run;
      slots[run] = static_cast<std::uint16_t>(first_slot + (target - begin));
      lengths[target] = static_cast<std::uint16_t>(run_begin[run + 1] - run_begin[run]);
    }
    __syncwarp();
    if (run < end && rank == 0) count[bin] += __popc(alike);
    __syncwarp();
  }
}

}  // namespace

RunOrder order_runs(Runs& runs, const RunsByRow& by_row, const RowBlockCut& cut,
                    const BlockedShape& shape, std::uint32_t windows, const ScratchMemory& memory,
                    DeviceAlgorithms& algorithms) {
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
  order.run_at = DeviceBuffer<std::uint32_t>(runs.count, scratch);
  order.slots = DeviceBuffer<std::uint16_t>(runs.count, scratch);
  order.lengths = DeviceBuffer<std::uint16_t>(runs.count, scratch);
  order_segments<<<blocks_for(blocks * windows * warp_size, block_size), block_size, 0, stream>>>(
      blocks * windows, windows, bounds.data(), order.segments.data(), runs.begin.data(),
      order.run_at.data(), order.slots.data(), order.lengths.data());
  PAGERANK_CUDA_LAUNCHED(order_segments);
  return order;
}

}  // namespace pagerank::gpu
