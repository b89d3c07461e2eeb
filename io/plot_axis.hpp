#pragma once

#include <cmath>
#include <vector>

namespace pagerank::io {

/// Maps numbers to pixels along one side of a chart.
class Axis {
 public:
  Axis(bool logarithmic, double from, double to, double from_pixel, double to_pixel)
      : logarithmic_(logarithmic),
        from_(from),
        to_(to),
        from_pixel_(from_pixel),
        to_pixel_(to_pixel) {}

  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] double from() const { return from_; }
  [[nodiscard]] double to() const { return to_; }
  [[nodiscard]] double from_pixel() const { return from_pixel_; }
  [[nodiscard]] double to_pixel() const { return to_pixel_; }

  [[nodiscard]] double pixel(double value) const {
    const double share = logarithmic_ ? std::log(value / from_) / std::log(to_ / from_)
                                      : (value - from_) / (to_ - from_);
    return from_pixel_ + share * (to_pixel_ - from_pixel_);
  }

  [[nodiscard]] double value(double pixel) const {
    const double share = (pixel - from_pixel_) / (to_pixel_ - from_pixel_);
    return logarithmic_ ? from_ * std::pow(to_ / from_, share) : from_ + share * (to_ - from_);
  }

  /// Where round numbers are: some five, or powers of ten, no more than eight or so (1, 2 and 5
  /// times those where they are few).
  [[nodiscard]] std::vector<double> ticks() const {
    return logarithmic_ ? logarithmic_ticks() : linear_ticks();
  }

 private:
  [[nodiscard]] std::vector<double> linear_ticks() const;
  [[nodiscard]] std::vector<double> logarithmic_ticks() const;

  bool logarithmic_;
  double from_, to_, from_pixel_, to_pixel_;
};

}  // namespace pagerank::io
