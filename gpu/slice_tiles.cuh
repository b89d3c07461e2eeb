#pragma once

#include "gpu/device_algorithms.cuh"
#include "gpu/launch_bounds.cuh"
#include "gpu/slices.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// Which lists stand side by side: lists are numbered by position, group g holds the positions
/// [begin[g], end[g]), and its slices and tiles are its own. Arrays in device memory.
struct SliceLists {
  std::uint64_t groups;
  const std::uint64_t* begin;    ///< groups
  const std::uint64_t* end;      ///< groups
  const std::uint16_t* lengths;  ///< By position: 1 .. longest_list.
  std::uint64_t most;            ///< There are no more lists than that.
};

/// What a warp has to do for a step and for a slice, in any unit: bytes that it moves.
struct SliceWork {
  std::uint64_t step, slice;
};

/// What tiles are filled with, and where the lists go (see SliceTiles).
template <class T>
struct SliceFill {
  SliceLists lists;
  const std::uint32_t *group_slices, *group_tiles, *first_steps, *first_slices;
  std::uint32_t* ids;
  T* values;
  std::uint32_t padding;
};

/// Owns slices (see SlicesView) and knows where they can be cut: a tile is some neighbouring slices
/// of a group that begin with a whole step.
class SliceTiles {
 public:
  SliceTiles() = default;
  /// Lays the lists out: where each goes, not yet their ids, for which fill() is there. Slices
  /// begin in a tile as long as they begin within its first `tile_half_steps`. What view() shows
  /// is in `memory`, once allocate_ids() has been called, too.
  SliceTiles(const SliceLists& lists, std::uint32_t tile_half_steps, const SliceWork& work,
             const ScratchMemory& memory, DeviceAlgorithms& algorithms);

  /// Memory for the ids, which are most of it: before fill(), in its stream.
  void allocate_ids(const ScratchMemory& memory, cudaStream_t stream);

  [[nodiscard]] SlicesView view() const { return {ids_.data(), ends_.data()}; }
  [[nodiscard]] std::uint64_t tiles() const { return tiles_; }
  [[nodiscard]] std::uint64_t slices() const { return slices_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Of all tiles before; tiles + 1.
  [[nodiscard]] const std::uint64_t* work_before() const { return work_before_.data(); }
  /// By group, groups + 1.
  [[nodiscard]] const std::uint32_t* group_slices() const { return group_slices_.data(); }
  [[nodiscard]] const std::uint32_t* group_tiles() const { return group_tiles_.data(); }
  [[nodiscard]] std::uint64_t bytes() const {
    return steps_ * (warp_size * sizeof(std::uint32_t) + 2 / 8.0);
  }

  /// Writes the ids, and the values where there are any. source.begin(group, position) is the first
  /// element of the list there, source.ids(begin, length) walks it: each four(left) returns the
  /// next four raw ids, 16 bits each, of so many that are left; source.id() makes a raw id the one
  /// to store, source.value(element) is the element's value. `values` has two elements a lane and
  /// step. Queued; the lists are those of the constructor.
  template <class T, class Source>
  void fill(const SliceLists& lists, const Source& source, std::uint32_t padding, T* values,
            cudaStream_t stream);

  /// The same, of a source that looks ids up in so many bytes of shared memory: a block calls
  /// source.enter(group, that memory) before all else. It takes no scratch memory, so that others
  /// may while it goes on; share_fill() has been queued before.
  template <class T, class Source>
  void fill_by_group(const SliceLists& lists, const Source& source, std::size_t shared_bytes,
                     std::uint32_t padding, T* values, cudaStream_t stream);
  /// Shares the tiles out among the blocks of fill_by_group().
  void share_fill(DeviceAlgorithms& algorithms);

  /// Cuts each of `count` stretches of tiles [begins[i], ends[i]) (device memory) into `parts`
  /// ranges of about as much work: ranges[i * parts + p]. Queued.
  void cut(const std::uint32_t* begins, const std::uint32_t* ends, std::uint64_t count,
           std::uint32_t parts, SliceRange* ranges, cudaStream_t stream) const;

  /// Frees all but what view() shows.
  void finish() {
    half_steps_ = {};
    group_slices_ = {};
    group_tiles_ = {};
    first_step_ = {};
    first_slice_ = {};
    work_before_ = {};
    group_blocks_ = {};
  }

 private:
  template <class T>
  [[nodiscard]] SliceFill<T> slice_fill(const SliceLists& lists, std::uint32_t padding, T* values) {
    return {lists,
            group_slices_.data(),
            group_tiles_.data(),
            first_step_.data(),
            first_slice_.data(),
            ids_.data(),
            values,
            padding};
  }

  std::uint64_t tiles_ = 0, slices_ = 0, steps_ = 0;
  std::uint64_t groups_ = 0;
  DeviceBuffer<std::uint32_t> group_slices_, group_tiles_;
  DeviceBuffer<std::uint32_t> group_blocks_;  ///< Of fill_by_group(), of all groups before.
  DeviceBuffer<std::uint32_t> half_steps_;    ///< Of all slices before; slices + 1, and more.
  DeviceBuffer<std::uint32_t> first_step_, first_slice_, ends_, ids_;
  DeviceBuffer<std::uint64_t> work_before_;
};

/// For a whole warp. What a lane needs next is on its way while it writes a list: two lists further
/// where that begins, one further its first ids.
template <class T, class Source>
__device__ void fill_tile(const SliceFill<T>& fill, std::uint64_t group, std::uint64_t tile,
                          const Source& source) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t first_step = fill.first_steps[tile];
  std::uint32_t half = 0, low = 0;
  const auto put = [&](std::uint32_t id, T value) {
    const std::uint64_t word = (first_step + half / 2) * warp_size + lane;
    if (half % 2 == 0) {
      low = id;
    } else {
      fill.ids[word] = low | id << 16;
    }
    if (fill.values != nullptr) fill.values[2 * word + half % 2] = value;
    ++half;
  };
  struct Place {
    std::uint64_t begin;
    unsigned length;
  };
  const std::uint32_t first_slice = fill.first_slices[tile], end = fill.first_slices[tile + 1];
  const std::uint64_t end_of_group = fill.lists.end[group];
  const std::uint64_t first_position =
      fill.lists.begin[group] + std::uint64_t{first_slice - fill.group_slices[group]} * warp_size +
      lane;
  const auto place_of = [&](std::uint32_t slice) -> Place {
    const std::uint64_t position = first_position + std::uint64_t{slice - first_slice} * warp_size;
    if (slice >= end || position >= end_of_group) return {0, 0};
    return {source.begin(group, position), fill.lists.lengths[position]};
  };
  Place next = place_of(first_slice), after = place_of(first_slice + 1);
  auto next_ids = source.ids(next.begin, next.length);
  for (std::uint32_t slice = first_slice; slice < end; ++slice) {
    const Place list = next;
    auto ids = next_ids;
    next = after;
    next_ids = source.ids(next.begin, next.length);
    after = place_of(slice + 2);
    const unsigned longest = warp_max(list.length);
    for (unsigned i = 0; i < longest; i += 4) {
      const unsigned left = i < list.length ? list.length - i : 0;
      const std::uint64_t four = ids.four(left);
      T values[4] = {};
#pragma unroll
      for (unsigned k = 0; k < 4 && fill.values != nullptr; ++k) {
        if (k < left) values[k] = source.value(list.begin + i + k);
      }
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (i + k >= longest) break;
        const auto found = static_cast<std::uint16_t>(four >> 16 * k);
        put(k < left ? source.id(found) : fill.padding, values[k]);
      }
    }
  }
  if (half % 2 == 1) put(fill.padding, T(0));
}

/// A warp a tile.
template <class T, class Source>
__global__ void fill_slice_tiles(SliceFill<T> fill, std::uint64_t tiles, Source source) {
  const std::uint64_t tile = global_thread_index() / warp_size;
  if (tile >= tiles) return;
  const std::uint64_t group = upper_bound(fill.group_tiles, fill.lists.groups + 1, tile) - 1;
  fill_tile(fill, group, tile, source);
}

/// Tiles of one group that a block fills, whose source looks ids up in shared memory.
inline constexpr unsigned tiles_of_fill = 128, fill_threads = 512;

template <class T, class Source>
__global__ void __launch_bounds__(fill_threads, resident_blocks(fill_threads, 2))
    fill_groups(SliceFill<T> fill, const std::uint32_t* group_blocks, Source source) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint64_t groups = fill.lists.groups;
  if (blockIdx.x >= group_blocks[groups]) return;
  const std::uint64_t group = upper_bound(group_blocks, groups + 1, blockIdx.x) - 1;
  source.enter(group, shared);
  __syncthreads();
  const std::uint32_t begin =
      fill.group_tiles[group] + (blockIdx.x - group_blocks[group]) * tiles_of_fill;
  const std::uint32_t end = min(begin + tiles_of_fill, fill.group_tiles[group + 1]);
  for (std::uint32_t tile = begin + threadIdx.x / warp_size; tile < end;
       tile += fill_threads / warp_size) {
    fill_tile(fill, group, tile, source);
  }
}

template <class T, class Source>
void SliceTiles::fill(const SliceLists& lists, const Source& source, std::uint32_t padding,
                      T* values, cudaStream_t stream) {
  if (tiles_ == 0) return;
  constexpr unsigned block_size = 256;
  fill_slice_tiles<<<blocks_for(tiles_ * warp_size, block_size), block_size, 0, stream>>>(
      slice_fill(lists, padding, values), tiles_, source);
  PAGERANK_CUDA_LAUNCHED(fill_slice_tiles);
}

template <class T, class Source>
void SliceTiles::fill_by_group(const SliceLists& lists, const Source& source,
                               std::size_t shared_bytes, std::uint32_t padding, T* values,
                               cudaStream_t stream) {
  if (tiles_ == 0) return;
  const auto kernel = fill_groups<T, Source>;
  PAGERANK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes)));
  const std::uint64_t most_blocks = tiles_ / tiles_of_fill + groups_;
  kernel<<<static_cast<unsigned>(most_blocks), fill_threads, shared_bytes, stream>>>(
      slice_fill(lists, padding, values), group_blocks_.data(), source);
  PAGERANK_CUDA_LAUNCHED(fill_groups);
}

}  // namespace pagerank::gpu
