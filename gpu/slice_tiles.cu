#include "gpu/slice_tiles.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

/// half_steps[s] = the longest list of slice s, 0 from the last one up to `most`. A warp takes 32
/// neighbouring slices: each lane finds out where one of them begins, and then all measure one
/// after the other.
__global__ void measure_slices(SliceLists lists, const std::uint32_t* group_slices,
                               std::uint64_t most, std::uint32_t* half_steps) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t slice = global_thread_index();
  const std::uint64_t slices = group_slices[lists.groups];
  if (slice - lane > most) return;  // the whole warp leaves together
  std::uint64_t begin = 0, end = 0;
  if (slice < slices) {
    const std::uint64_t group = upper_bound(group_slices, lists.groups + 1, slice) - 1;
    begin = lists.begin[group] + (slice - group_slices[group]) * warp_size;
    end = min(begin + warp_size, lists.end[group]);
  }
  unsigned longest = 0;
#pragma unroll 8
  for (unsigned owner = 0; owner < warp_size; ++owner) {
    const std::uint64_t position = __shfl_sync(full_warp, begin, owner) + lane;
    const bool there = position < __shfl_sync(full_warp, end, owner);
    const unsigned length = warp_max(there ? lists.lengths[position] : 0U);
    if (lane == owner) longest = length;
  }
  if (slice <= most) half_steps[slice] = longest;
}

/// The tile of its group that a slice begins in.
__device__ std::uint32_t tile_in_group(const std::uint32_t* half_steps, std::uint32_t group_begin,
                                       std::uint64_t slice, std::uint32_t tile_half_steps) {
  return (half_steps[slice] - half_steps[group_begin]) / tile_half_steps;
}

__global__ void count_tiles(std::uint64_t groups, const std::uint32_t* group_slices,
                            const std::uint32_t* half_steps, std::uint32_t tile_half_steps,
                            std::uint32_t* tiles) {
  const std::uint64_t group = global_thread_index();
  if (group > groups) return;
  std::uint32_t count = 0;
  if (group < groups && group_slices[group] < group_slices[group + 1]) {
    count = tile_in_group(half_steps, group_slices[group], group_slices[group + 1] - 1,
                          tile_half_steps) +
            1;
  }
  tiles[group] = count;
}

__global__ void find_first_slices(std::uint64_t groups, const std::uint32_t* group_slices,
                                  const std::uint32_t* group_tiles, const std::uint32_t* half_steps,
                                  std::uint32_t tile_half_steps, std::uint64_t tiles,
                                  std::uint32_t* first_slice) {
  const std::uint64_t tile = global_thread_index();
  if (tile > tiles) return;
  if (tile == tiles) {
    first_slice[tile] = group_slices[groups];
    return;
  }
  const std::uint64_t group = upper_bound(group_tiles, groups + 1, tile) - 1;
  const std::uint32_t begin = group_slices[group];
  const std::uint32_t target =
      half_steps[begin] + static_cast<std::uint32_t>(tile - group_tiles[group]) * tile_half_steps;
  first_slice[tile] = begin + static_cast<std::uint32_t>(lower_bound(
                                  half_steps + begin, group_slices[group + 1] - begin, target));
}

__global__ void count_steps(std::uint64_t tiles, const std::uint32_t* first_slice,
                            const std::uint32_t* half_steps, std::uint32_t* steps) {
  const std::uint64_t tile = global_thread_index();
  if (tile > tiles) return;
  steps[tile] = tile < tiles
                    ? (half_steps[first_slice[tile + 1]] - half_steps[first_slice[tile]] + 1) / 2
                    : 0;
}

__global__ void mark_ends(std::uint64_t groups, const std::uint32_t* group_slices,
                          const std::uint32_t* group_tiles, const std::uint32_t* half_steps,
                          std::uint32_t tile_half_steps, const std::uint32_t* first_slice,
                          const std::uint32_t* first_step, std::uint64_t slices,
                          std::uint32_t* ends) {
  const std::uint64_t slice = global_thread_index();
  if (slice >= slices) return;
  const std::uint64_t group = upper_bound(group_slices, groups + 1, slice) - 1;
  const std::uint64_t tile =
      group_tiles[group] + tile_in_group(half_steps, group_slices[group], slice, tile_half_steps);
  const std::uint64_t last = std::uint64_t{first_step[tile]} * 2 + half_steps[slice + 1] -
                             half_steps[first_slice[tile]] - 1;
  atomicOr(ends + last / 32, 1U << (last % 32));
}

__global__ void cut_tiles(const std::uint32_t* begins, const std::uint32_t* ends,
                          std::uint64_t count, std::uint32_t parts,
                          const std::uint64_t* work_before, const std::uint32_t* first_step,
                          const std::uint32_t* first_slice, SliceRange* ranges) {
  const std::uint64_t i = global_thread_index();
  if (i >= count * parts) return;
  const std::uint32_t begin = begins[i / parts], tiles = ends[i / parts] - begin;
  const std::uint64_t* const work = work_before + begin;
  const auto cut = [&](std::uint64_t part) {
    const std::uint64_t target = work[0] + (work[tiles] - work[0]) * part / parts;
    return begin + static_cast<std::uint32_t>(lower_bound(work, tiles, target));
  };
  const std::uint32_t from = cut(i % parts), to = cut(i % parts + 1);
  ranges[i] = {first_step[from], first_step[to], first_slice[from]};
}

void count_slices(const SliceLists& lists, std::uint32_t* of_group, cudaStream_t stream) {
  queue_for_each(
      lists.groups + 1,
      [lists, of_group] __device__(std::uint64_t g) {
        of_group[g] =
            g < lists.groups
                ? static_cast<std::uint32_t>((lists.end[g] - lists.begin[g] + 31) / warp_size)
                : 0;
      },
      stream);
}

/// (A function of its own: a constructor may have no device lambda.)
void add_up_work(std::uint64_t tiles, const SliceWork& work, const std::uint32_t* first_step,
                 const std::uint32_t* first_slice, std::uint64_t* work_before,
                 cudaStream_t stream) {
  queue_for_each(
      tiles + 1,
      [=] __device__(std::uint64_t tile) {
        work_before[tile] = work.step * first_step[tile] + work.slice * first_slice[tile];
      },
      stream);
}

}  // namespace

SliceTiles::SliceTiles(const SliceLists& lists, std::uint32_t tile_half_steps,
                       const SliceWork& work, const ScratchMemory& memory,
                       DeviceAlgorithms& algorithms)
    : groups_(lists.groups) {
  cudaStream_t stream = algorithms.stream();
  group_slices_ = DeviceBuffer<std::uint32_t>(lists.groups + 1, algorithms.scratch());
  group_tiles_ = DeviceBuffer<std::uint32_t>(lists.groups + 1, algorithms.scratch());
  const std::uint64_t groups = lists.groups;
  DeviceBuffer<std::uint32_t> counts(groups + 1, algorithms.scratch());
  std::uint32_t* const of_group = counts.data();
  count_slices(lists, of_group, stream);
  algorithms.exclusive_sum(of_group, group_slices_.data(), groups + 1);
  {
    // (How many there are the host gets to know with the tiles: each trip to it takes longer than
    // some steps.)
    const std::uint64_t most = lists.most / warp_size + groups;
    DeviceBuffer<std::uint32_t> longest(most + 1, algorithms.scratch());
    half_steps_ = DeviceBuffer<std::uint32_t>(most + 1, algorithms.scratch());
    measure_slices<<<blocks_for(most + 1, block_size), block_size, 0, stream>>>(
        lists, group_slices_.data(), most, longest.data());
    PAGERANK_CUDA_LAUNCHED(measure_slices);
    algorithms.exclusive_sum(longest.data(), half_steps_.data(), most + 1);
  }
  count_tiles<<<blocks_for(groups + 1, block_size), block_size, 0, stream>>>(
      groups, group_slices_.data(), half_steps_.data(), tile_half_steps, of_group);
  PAGERANK_CUDA_LAUNCHED(count_tiles);
  algorithms.exclusive_sum(of_group, group_tiles_.data(), groups + 1);
  const auto [slices, tiles] =
      algorithms.fetch_two(group_slices_.data() + groups, group_tiles_.data() + groups);
  slices_ = slices;
  tiles_ = tiles;

  first_slice_ = DeviceBuffer<std::uint32_t>(tiles_ + 1, algorithms.scratch());
  find_first_slices<<<blocks_for(tiles_ + 1, block_size), block_size, 0, stream>>>(
      groups, group_slices_.data(), group_tiles_.data(), half_steps_.data(), tile_half_steps,
      tiles_, first_slice_.data());
  PAGERANK_CUDA_LAUNCHED(find_first_slices);
  DeviceBuffer<std::uint32_t> steps(tiles_ + 1, algorithms.scratch());
  count_steps<<<blocks_for(tiles_ + 1, block_size), block_size, 0, stream>>>(
      tiles_, first_slice_.data(), half_steps_.data(), steps.data());
  PAGERANK_CUDA_LAUNCHED(count_steps);
  first_step_ = DeviceBuffer<std::uint32_t>(tiles_ + 1, algorithms.scratch());
  algorithms.exclusive_sum(steps.data(), first_step_.data(), tiles_ + 1);
  steps_ = algorithms.fetch(first_step_.data() + tiles_);
  work_before_ = DeviceBuffer<std::uint64_t>(tiles_ + 1, algorithms.scratch());
  add_up_work(tiles_, work, first_step_.data(), first_slice_.data(), work_before_.data(), stream);

  ends_ = DeviceBuffer<std::uint32_t>(steps_ / 16 + 4, memory);
  ends_.set_to_zero(stream);
  if (slices_ > 0) {
    mark_ends<<<blocks_for(slices_, block_size), block_size, 0, stream>>>(
        groups, group_slices_.data(), group_tiles_.data(), half_steps_.data(), tile_half_steps,
        first_slice_.data(), first_step_.data(), slices_, ends_.data());
    PAGERANK_CUDA_LAUNCHED(mark_ends);
  }
}

void SliceTiles::allocate_ids(const ScratchMemory& memory, cudaStream_t stream) {
  const std::uint64_t words = steps_ * warp_size;
  ids_ = DeviceBuffer<std::uint32_t>(words + batches_beyond * steps_of_batch * warp_size, memory);
  PAGERANK_CUDA(cudaMemsetAsync(ids_.data() + words, 0,
                                batches_beyond * steps_of_batch * warp_size * sizeof(std::uint32_t),
                                stream));
}

void SliceTiles::share_fill(DeviceAlgorithms& algorithms) {
  const std::uint64_t groups = groups_;
  DeviceBuffer<std::uint32_t> counts(groups + 1, algorithms.scratch());
  std::uint32_t* const count = counts.data();
  const std::uint32_t* const tiles = group_tiles_.data();
  queue_for_each(
      groups + 1,
      [=] __device__(std::uint64_t g) {
        count[g] = g < groups ? (tiles[g + 1] - tiles[g] + tiles_of_fill - 1) / tiles_of_fill : 0;
      },
      algorithms.stream());
  group_blocks_ = DeviceBuffer<std::uint32_t>(groups + 1, algorithms.scratch());
  algorithms.exclusive_sum(counts.data(), group_blocks_.data(), groups + 1);
}

void SliceTiles::cut(const std::uint32_t* begins, const std::uint32_t* ends, std::uint64_t count,
                     std::uint32_t parts, SliceRange* ranges, cudaStream_t stream) const {
  if (count == 0) return;
  cut_tiles<<<blocks_for(count * parts, block_size), block_size, 0, stream>>>(
      begins, ends, count, parts, work_before_.data(), first_step_.data(), first_slice_.data(),
      ranges);
  PAGERANK_CUDA_LAUNCHED(cut_tiles);
}

}  // namespace pagerank::gpu
