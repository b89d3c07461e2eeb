#pragma once

#include <cstdint>

#include "core/types.hpp"
#include "gpu/streaming_load.cuh"
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
  const std::uint32_t* ids;   ///< steps * 32, and two batches of zeros
  const std::uint32_t* ends;  ///< Bit h: a slice ends after half step h; and two words of zeros.
};

inline constexpr unsigned longest_list = 128;

/// What a warp adds up: the slices from number `slice` on, in the steps [step, end).
struct SliceRange {
  std::uint32_t step, end, slice;
};

/// A warp's walk over a range of slices.
class SliceWalk {
 public:
  /// Starts loading the first ids.
  __device__ SliceWalk(const SlicesView& slices, const SliceRange& range)
      : slices_(slices), step_(range.step), end_(range.end) {
    load(step_, words_, ends_);
  }

  /// Adds up from[id] over each list, times the ids' values where there are any (two a lane and
  /// step, in the order of the ids). The sums of the range's first slice go to *out of each lane,
  /// those of the next 32 elements further, if that is below out_end. For a whole warp.
  template <bool weighted, bool bounded, class T>
  __device__ void sum(const T* from, const T* values, T* out, const T* out_end) {
    const unsigned lane = threadIdx.x % warp_size;
    // Of the list's batches before, and of this one: no chain of additions is longer than a batch.
    T before = 0, part = 0;
    const auto end_list = [&] {
      if (!bounded || out < out_end) __stcs(out, before + part);
      out += warp_size;
      before = 0;
      part = 0;
    };
    for (; step_ < end_; step_ += batch) {
      std::uint32_t next_words[batch], next_ends;
      load(step_ + batch, next_words, next_ends);
      T terms[2 * batch];  // all on their way before the first is added
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        terms[2 * k] = from[words_[k] & 0xffff];
        terms[2 * k + 1] = from[words_[k] >> 16];
      }
      if constexpr (weighted) {
        const T* const pairs = values + (std::uint64_t{step_} * warp_size + lane) * 2;
#pragma unroll
        for (unsigned k = 0; k < 2 * batch; ++k) {
          terms[k] *= load_once(pairs + k / 2 * warp_size * 2 + k % 2);
        }
      }
      // Beyond the range the ends are others'. The same bits for the whole warp: by a reduction, so
      // that the compiler knows it.
      const unsigned left = end_ - step_;
      const unsigned ends =
          __reduce_or_sync(full_warp, left < batch ? ends_ & ((1U << 2 * left) - 1) : ends_);
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        if ((ends >> (2 * k) & 3) == 0) {
          part += terms[2 * k] + terms[2 * k + 1];
        } else {
          part += terms[2 * k];
          if (ends >> (2 * k) & 1) end_list();
          part += terms[2 * k + 1];
          if (ends >> (2 * k) & 2) end_list();
        }
      }
      before += part;
      part = 0;
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) words_[k] = next_words[k];
      ends_ = next_ends;
    }
  }

  static constexpr unsigned batch = 8;  ///< Steps that a lane loads ahead.

 private:
  /// May reach beyond the range, and beyond the last one into the zeros.
  __device__ void load(std::uint32_t step, std::uint32_t (&words)[batch], std::uint32_t& ends) {
    const std::uint32_t* const place =
        slices_.ids + std::uint64_t{step} * warp_size + threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) words[k] = load_once(place + k * warp_size);
    const std::uint32_t* const bits = slices_.ends + step / 16;
    ends = __funnelshift_r(__ldg(bits), __ldg(bits + 1), 2 * step % 32) & 0xffff;
  }

  SlicesView slices_;
  std::uint32_t step_, end_;
  std::uint32_t words_[batch], ends_;
};

}  // namespace pagerank::gpu
