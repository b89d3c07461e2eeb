#pragma once

#include <type_traits>

#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// The sum of a row's products, exact enough for rows of any length: adding 10^5 equal terms in T
/// loses their last four or five digits. float terms are added in double; double terms with
/// Neumaier's compensation (ZAMM 54, 1974), which keeps the rounding errors beside the sum.
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

  /// Adds the sums of a full warp's lanes into lane 0's, as warp_sum() does.
  __device__ void add_over_warp() {
    if constexpr (std::is_same_v<T, float>) {
      sum_ = warp_sum(sum_);
    } else {
      for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
        const double other_error = __shfl_down_sync(full_warp, error_, offset);
        add(__shfl_down_sync(full_warp, sum_, offset));
        error_ += other_error;
      }
    }
  }

  [[nodiscard]] __device__ double value() const { return sum_ + error_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

}  // namespace pagerank::gpu
