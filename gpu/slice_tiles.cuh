#pragma once

#include "gpu/device_algorithms.cuh"
#include "gpu/slices.cuh"

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

/// Owns slices (see SlicesView) and knows where they can be cut: a tile is some neighbouring slices
/// of a group that begin with a whole step.
class SliceTiles {
 public:
  SliceTiles() = default;
  /// Lays the lists out: where each goes, not yet their ids, for which fill() is there. Slices
  /// begin in a tile as long as they begin within its first `tile_half_steps`. What view() shows
  /// is in `memory`.
  SliceTiles(const SliceLists& lists, std::uint32_t tile_half_steps, const SliceWork& work,
             const ScratchMemory& memory, DeviceAlgorithms& algorithms);

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

  /// Writes the ids, and the values where there are any: element i of the list at a position is
  /// source.id(group, source.begin(group, position) + i), its value source.value(the same).
  /// `values` has two elements a lane and step. Queued; the lists are those of the constructor.
  template <class T, class Source>
  void fill(const SliceLists& lists, const Source& source, std::uint32_t padding, T* values,
            cudaStream_t stream);

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
  }

 private:
  std::uint64_t tiles_ = 0, slices_ = 0, steps_ = 0;
  DeviceBuffer<std::uint32_t> group_slices_, group_tiles_;
  DeviceBuffer<std::uint32_t> half_steps_;  ///< Of all slices before; slices + 1, and more.
  DeviceBuffer<std::uint32_t> first_step_, first_slice_, ends_, ids_;
  DeviceBuffer<std::uint64_t> work_before_;
};

/// A warp a tile.
template <class T, class Source>
__global__ void fill_slice_tiles(SliceLists lists, const std::uint32_t* group_slices,
                                 const std::uint32_t* group_tiles, const std::uint32_t* half_steps,
                                 std::uint64_t tiles, const std::uint32_t* first_steps,
                                 const std::uint32_t* first_slices, std::uint32_t* ids, T* values,
                                 std::uint32_t padding, Source source) {
  const std::uint64_t tile = global_thread_index() / warp_size;
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t group = upper_bound(group_tiles, lists.groups + 1, tile) - 1;
  const std::uint64_t first_step = first_steps[tile];
  std::uint32_t half = 0, low = 0;
  const auto put = [&](std::uint32_t id, T value) {
    const std::uint64_t word = (first_step + half / 2) * warp_size + lane;
    if (half % 2 == 0) {
      low = id;
    } else {
      ids[word] = low | id << 16;
    }
    if (values != nullptr) values[2 * word + half % 2] = value;
    ++half;
  };
  for (std::uint32_t slice = first_slices[tile]; slice < first_slices[tile + 1]; ++slice) {
    const std::uint64_t position =
        lists.begin[group] + std::uint64_t{slice - group_slices[group]} * warp_size + lane;
    const bool there = position < lists.end[group];
    const unsigned length = there ? lists.lengths[position] : 0;
    const std::uint64_t begin = there ? source.begin(group, position) : 0;
    const unsigned longest = half_steps[slice + 1] - half_steps[slice];
    for (unsigned i = 0; i < longest; ++i) {
      const bool present = i < length;
      put(present ? source.id(group, begin + i) : padding,
          present && values != nullptr ? source.value(begin + i) : T(0));
    }
  }
  if (half % 2 == 1) put(padding, T(0));
}

template <class T, class Source>
void SliceTiles::fill(const SliceLists& lists, const Source& source, std::uint32_t padding,
                      T* values, cudaStream_t stream) {
  if (tiles_ == 0) return;
  constexpr unsigned block_size = 256;
  fill_slice_tiles<<<blocks_for(tiles_ * warp_size, block_size), block_size, 0, stream>>>(
      lists, group_slices_.data(), group_tiles_.data(), half_steps_.data(), tiles_,
      first_step_.data(), first_slice_.data(), ids_.data(), values, padding, source);
  PAGERANK_CUDA_LAUNCHED(fill_slice_tiles);
}

}  // namespace pagerank::gpu
