#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace pagerank {

/// When engines turn from float iterations to corrections. Mixed precision is iterative refinement:
/// floats find x, and from then on corrections of x, whose source is the residual of x in double.
/// That takes as long as some iterations, so there shall be few of them.
class FloatIterations {
 public:
  /// So many go by before rounding is suspected to keep the change from shrinking.
  static constexpr std::uint32_t batch = 8;

  /// The iterations of x itself, an L1 norm of 1.
  FloatIterations() = default;
  /// Those of the correction of an x with that residual.
  [[nodiscard]] static FloatIterations of_correction(double residual, double alpha) {
    FloatIterations iterations;
    iterations.norm_ = residual / (1 - alpha);
    iterations.residual_ = residual;
    return iterations;
  }
  [[nodiscard]] bool of_correction() const { return residual_ < no_residual; }

  /// See Iteration::residual_corrected().
  static constexpr double no_residual = std::numeric_limits<double>::infinity();
  [[nodiscard]] double residual() const { return residual_; }

  /// The change at which they have done what they can for a `target`.
  [[nodiscard]] double aim(double target) const {
    return target >= within_reach * norm_ ? target : resolution * norm_;
  }

  /// Whether the next iteration is to be of a correction, after these changes.
  [[nodiscard]] bool spent(std::span<const double> changes, double target) const {
    const double change = changes.back();
    return change > target && (change <= aim(target) || stalled(changes));
  }

 private:
  /// What floats resolve of an L1 norm of 1: some times what rounding leaves of a change, also
  /// where a hub and its leaves lock into a cycle of two roundings.
  static constexpr double resolution = 0x1p-18;

  /// A change that they mostly reach, though: where no smaller one is asked for it is tried.
  static constexpr double within_reach = 0x1p-23;

  [[nodiscard]] static bool stalled(std::span<const double> changes) {
    const auto middle = changes.begin() + batch / 2;
    return changes.size() == batch &&
           *std::min_element(middle, changes.end()) >= *std::min_element(changes.begin(), middle);
  }

  double norm_ = 1;  ///< L1, of what is iterated: at most.
  double residual_ = no_residual;
};

}  // namespace pagerank
