#pragma once

#include <cstdint>

#include "core/types.hpp"
#include "gpu/cache_policy.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// Lists of 16-bit ids laid out for warps: 32 lists side by side are a slice, a lane each, as many
/// half steps long as its longest list; an id that stands for 0 pads the others. A step is one
/// 32-bit word a lane, two half steps, so that a warp loads 128 bytes at once. Slices follow one
/// another without a gap; a bitmap says after which half steps one ends.
///
///   lists  0: a b c   1: d e   2: f   3: g h      (lanes 0 to 3 of a warp of four)
///   slice 0, half steps 0 1 2:   lane 0  a b c    lane 1  d e .    lane 2  f . .    lane 3  g h .
struct SlicesView {
  const std::uint32_t* ids;   ///< steps * 32, and batches_beyond of zeros
  const std::uint32_t* ends;  ///< Bit h: a slice ends after half step h; and three words of zeros.
};

inline constexpr unsigned longest_list = 128;

inline constexpr unsigned steps_of_batch = 8;  ///< That are loaded at once; 16 ids of a lane.
/// Batches beyond a range that may be loaded, and beyond the last range are zeros.
inline constexpr unsigned batches_beyond = 3;

/// What a warp adds up: the slices from number `slice` on, in the steps [step, end).
struct SliceRange {
  std::uint32_t step, end, slice;
};

/// A warp's walk over a range of slices, two batches of steps ahead with loading: where ranges are
/// short, not beyond the end, which would be half of what is loaded.
template <bool short_ranges>
class SliceWalk {
 public:
  static constexpr unsigned batch = steps_of_batch;

  /// Starts loading the first ids.
  __device__ SliceWalk(const SlicesView& slices, const SliceRange& range)
      : slices_(slices), step_(range.step), end_(range.end) {
    load(step_, even_);
    load(step_ + batch, odd_);
  }

  /// Adds up from[id] over each list, times the ids' values where there are any (two a lane and
  /// step, in the order of the ids). The sums of the range's first slice go to *out of each lane,
  /// those of the next 32 elements further: if `bounded`, where that is below out_end; else to be
  /// read soon. For a whole warp.
  template <bool weighted, bool bounded, class T>
  __device__ void sum(const T* from, const T* values, T* out, const T* out_end) {
    Sums<T> sums{0, 0, out};
    while (step_ < end_) {
      add_batch<weighted, bounded>(even_, from, values, sums, out_end);
      if (step_ >= end_) break;
      add_batch<weighted, bounded>(odd_, from, values, sums, out_end);
    }
  }

 private:
  struct Batch {
    std::uint32_t words[batch], ends;
  };
  /// Of a list's batches before, and of this one: no chain of additions is longer than a batch.
  template <class T>
  struct Sums {
    T before, part;
    T* out;
  };

  __device__ void load(std::uint32_t step, Batch& into) {
    const std::uint32_t* const place =
        slices_.ids + std::uint64_t{step} * warp_size + threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const bool needed = !short_ranges || step + k < end_;
      into.words[k] = needed ? load_once(place + k * warp_size) : 0;
    }
    const std::uint32_t* const bits = slices_.ends + step / 16;
    into.ends = __funnelshift_r(__ldg(bits), __ldg(bits + 1), 2 * step % 32) & 0xffff;
  }

  template <bool weighted, bool bounded, class T>
  __device__ void add_batch(Batch& now, const T* from, const T* values, Sums<T>& sums,
                            const T* out_end) {
    T terms[2 * batch];  // all on their way before the first is added
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      terms[2 * k] = from[now.words[k] & 0xffff];
      terms[2 * k + 1] = from[now.words[k] >> 16];
    }
    if constexpr (weighted) {
      const T* const pairs =
          values + (std::uint64_t{step_} * warp_size + threadIdx.x % warp_size) * 2;
#pragma unroll
      for (unsigned k = 0; k < 2 * batch; ++k) {
        terms[k] *= load_once(pairs + k / 2 * warp_size * 2 + k % 2);
      }
    }
    // Beyond the range the ends are others'. The same bits for the whole warp: by a reduction, so
    // that the compiler knows it.
    const unsigned left = end_ - step_;
    const unsigned ends = warp_or(left < batch ? now.ends & ((1U << 2 * left) - 1) : now.ends);
    load(step_ + 2 * batch, now);
    step_ += batch;
    const auto end_list = [&] {
      const T sum = sums.before + sums.part;
      if constexpr (!bounded) {
        store_to_keep(sums.out, sum);
      } else if (sums.out < out_end) {
        __stcs(sums.out, sum);
      }
      sums.out += warp_size;
      sums.before = 0;
      sums.part = 0;
    };
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      if ((ends >> (2 * k) & 3) == 0) {
        sums.part += terms[2 * k] + terms[2 * k + 1];
      } else {
        sums.part += terms[2 * k];
        if (ends >> (2 * k) & 1) end_list();
        sums.part += terms[2 * k + 1];
        if (ends >> (2 * k) & 2) end_list();
      }
    }
    sums.before += sums.part;
    sums.part = 0;
  }

  SlicesView slices_;
  std::uint32_t step_, end_;
  Batch even_, odd_;
};

}  // namespace pagerank::gpu
