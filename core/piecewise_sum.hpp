#pragma once

#include <cstdint>

#include "core/compensated_sum.hpp"

namespace pagerank {

/// The sum of any number of terms, in their order: of each piece_terms of them a compensated sum,
/// and of the values of these one again. So the pieces can be added up side by side (run_sums.cu
/// does, on the GPU) and have the same bits as one after the other. For terms >= 0 the relative
/// error is a few units roundoff, however many there are.
class PiecewiseSum {
 public:
  static constexpr std::uint64_t piece_terms = 4096;

  PAGERANK_HOST_DEVICE void add(double term) {
    if (terms_ == piece_terms) {
      pieces_ += piece_.value();
      piece_ = {};
      terms_ = 0;
    }
    piece_ += term;
    ++terms_;
  }
  [[nodiscard]] PAGERANK_HOST_DEVICE double value() const {
    CompensatedSum sum = pieces_;
    sum += piece_.value();
    return sum.value();
  }

 private:
  CompensatedSum pieces_, piece_;
  std::uint64_t terms_ = 0;  ///< Of the piece that is being added up.
};

}  // namespace pagerank
