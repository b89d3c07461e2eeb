#pragma once

#include <type_traits>

#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// The sum of a row's products, exact enough for rows of any length: adding 10^5 equal terms in T
/// loses their last four or five digits. float terms are added in double; double terms with
/// Neumaier's compensation (ZAMM 54, 1974), which keeps the rounding errors beside the sum.
/// Trivial, so that it may lie in shared memory: start one with RowSum<T> sum{}.
template <class T>
class RowSum {
 public:
  __device__ void add(double term) {
    if constexpr (std::is_same_v<T, float>) {
      sum_ += term;
    } else {
      // The _rn intrinsics are never contracted to a fused multiply-add, which would spoil this.
      const double sum = __dadd_rn(sum_, term);
      error_ += fabs(sum_) >= fabs(term) ? __dadd_rn(__dadd_rn(sum_, -sum), term)
                                         : __dadd_rn(__dadd_rn(term, -sum), sum_);
      sum_ = sum;
    }
  }

  __device__ void add(const RowSum& other) {
    add(other.sum_);
    error_ += other.error_;
  }

  /// Adds the sums of each group of `lanes` neighbouring lanes into the group's first, as
  /// warp_sum() does. All 32 lanes of the warp call it.
  template <unsigned lanes>
  __device__ void add_over_lanes() {
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
      RowSum other;
      other.sum_ = __shfl_down_sync(full_warp, sum_, offset, lanes);
      other.error_ = 0;
      if constexpr (!std::is_same_v<T, float>) {
        other.error_ = __shfl_down_sync(full_warp, error_, offset, lanes);
      }
      add(other);
    }
  }
  __device__ void add_over_warp() { add_over_lanes<warp_size>(); }

  [[nodiscard]] __device__ double value() const { return sum_ + error_; }

 private:
  double sum_;
  double error_;  ///< Stays 0 for float.
};

}  // namespace pagerank::gpu
