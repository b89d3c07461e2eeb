#pragma once

#include <cstdint>

#include "core/types.hpp"
#include "gpu/streaming_load.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// Lists of 16-bit ids laid out for warps: 32 lists side by side are a slice, a lane each, as many
/// half steps long as its longest list; an id that stands for 0 pads the others. A step is one
/// 32-bit word a lane, two half steps, so that a warp loads 128 bytes at once. Slices follow one
/// another within a tile, the work of a warp; a bitmap says after which half steps a slice ends.
///
///   lists  0: a b c   1: d e   2: f   3: g h      (lanes 0 to 3 of a warp of four)
///   slice 0, half steps 0 1 2:   lane 0  a b c    lane 1  d e .    lane 2  f . .    lane 3  g h .
struct SliceTilesView {
  static constexpr unsigned longest_list = 128;
  /// Slices begin in a tile as long as they begin within so many half steps.
  static constexpr unsigned tile_half_steps = 64;
  static constexpr unsigned end_words = (tile_half_steps + longest_list) / 32;

  const std::uint32_t* first_step;   ///< tiles + 1
  const std::uint32_t* first_slice;  ///< tiles + 1
  const std::uint32_t* ends;         ///< tiles * end_words: bit h, a slice ends after half step h
  const std::uint32_t* ids;          ///< steps * 32, and a batch of zeros
};

/// A tile as a warp holds it: `ends` is a word a lane.
struct SliceTile {
  std::uint32_t first_step = 0, steps = 0, first_slice = 0, ends = 0;

  __device__ static SliceTile load(const SliceTilesView& view, unsigned tile, unsigned lane) {
    SliceTile loaded;
    loaded.first_step = __ldg(view.first_step + tile);
    loaded.steps = __ldg(view.first_step + tile + 1) - loaded.first_step;
    loaded.first_slice = __ldg(view.first_slice + tile);
    if (lane < SliceTilesView::end_words) {
      loaded.ends = __ldg(view.ends + std::uint64_t{tile} * SliceTilesView::end_words + lane);
    }
    return loaded;
  }
};

inline constexpr unsigned slice_batch = 8;  ///< Steps that a lane loads ahead.

/// A batch of a lane's words. It may reach into the next tile, and beyond the last one into a
/// batch of zeros that follows: what is added up of that is never stored.
__device__ inline void load_slice_batch(const std::uint32_t* place,
                                        std::uint32_t (&words)[slice_batch]) {
#pragma unroll
  for (unsigned k = 0; k < slice_batch; ++k) words[k] = load_once(place + k * warp_size);
}

/// Where a warp's sums go: those of slice s to begin[(s - first_slice) * 32 + lane], if that is
/// below `end`.
template <class T>
struct SliceSums {
  T* begin;
  std::uint32_t first_slice;
  T* end;
};

/// Adds up from[id] over each list of the tiles `tile`, `tile` + stride, .. below `end`, times the
/// ids' values where there are any (two a lane and step, in the order of the ids). For a whole
/// warp.
template <class T, bool weighted, bool bounded>
__device__ void sum_slices(const SliceTilesView& view, const T* values, unsigned tile, unsigned end,
                           unsigned stride, const T* from, const SliceSums<T>& sums) {
  const unsigned lane = threadIdx.x % warp_size;
  if (tile >= end) return;
  SliceTile now = SliceTile::load(view, tile, lane);
  const std::uint32_t* const ids = view.ids + lane;
  const std::uint32_t* place = ids + std::uint64_t{now.first_step} * warp_size;
  std::uint32_t words[slice_batch];
  load_slice_batch(place, words);
  while (tile < end) {
    tile += stride;
    SliceTile next = now;
    if (tile < end) next = SliceTile::load(view, tile, lane);
    const std::uint32_t* const next_place = ids + std::uint64_t{next.first_step} * warp_size;
    // Of the list's batches before, and of this one: no chain of additions is longer than a batch.
    T sum = 0, part = 0;
    T* out = sums.begin + std::uint64_t{now.first_slice - sums.first_slice} * warp_size + lane;
    const auto end_list = [&] {
      if (!bounded || out < sums.end) __stcs(out, sum + part);
      out += warp_size;
      sum = 0;
      part = 0;
    };
    for (unsigned step = 0; step < now.steps; step += slice_batch) {
      place = step + slice_batch < now.steps ? place + slice_batch * warp_size : next_place;
      std::uint32_t ahead[slice_batch];
      load_slice_batch(place, ahead);
      T terms[2 * slice_batch];  // all on their way before the first is added
#pragma unroll
      for (unsigned k = 0; k < slice_batch; ++k) {
        terms[2 * k] = from[words[k] & 0xffff];
        terms[2 * k + 1] = from[words[k] >> 16];
      }
      if constexpr (weighted) {
        const T* const pairs =
            values + ((std::uint64_t{now.first_step} + step) * warp_size + lane) * 2;
#pragma unroll
        for (unsigned k = 0; k < 2 * slice_batch; ++k) {
          terms[k] *= load_once(pairs + k / 2 * warp_size * 2 + k % 2);
        }
      }
      // The same bits for the whole warp; by a reduction, so that the compiler knows it.
      const unsigned ends =
          __reduce_or_sync(full_warp, lane == step / 16 ? now.ends : 0) >> (2 * step % 32);
#pragma unroll
      for (unsigned k = 0; k < slice_batch; ++k) {
        if ((ends >> (2 * k) & 3) == 0) {
          part += terms[2 * k] + terms[2 * k + 1];
        } else {
          part += terms[2 * k];
          if (ends >> (2 * k) & 1) end_list();
          part += terms[2 * k + 1];
          if (ends >> (2 * k) & 2) end_list();
        }
      }
      sum += part;
      part = 0;
#pragma unroll
      for (unsigned k = 0; k < slice_batch; ++k) words[k] = ahead[k];
    }
    if (now.steps == 0) {
      place = next_place;
      load_slice_batch(place, words);
    }
    now = next;
  }
}

}  // namespace pagerank::gpu
