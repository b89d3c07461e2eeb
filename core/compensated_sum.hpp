#pragma once

#include <cmath>

#include "core/host_device.hpp"

namespace pagerank {

/// Neumaier's compensated sum (ZAMM 54, 1974): the rounding errors of the additions are added up
/// beside the sum, so its relative error for terms >= 0 does not grow with their number.
class CompensatedSum {
 public:
  PAGERANK_HOST_DEVICE void add(double term) {
    const double sum = sum_ + term;
    error_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  /// The same bits without a branch, which few terms in no order would have mispredicted: the
  /// rounding error by Knuth's TwoSum (The Art of Computer Programming, volume 2, 4.2.2).
  PAGERANK_HOST_DEVICE CompensatedSum& operator+=(double term) {
    const double sum = sum_ + term;
    const double of_term = sum - sum_;
    error_ += (sum_ - (sum - of_term)) + (term - of_term);
    sum_ = sum;
    return *this;
  }
  [[nodiscard]] PAGERANK_HOST_DEVICE double value() const { return sum_ + error_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

}  // namespace pagerank
