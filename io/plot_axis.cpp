#include "io/plot_axis.hpp"

namespace pagerank::io {

std::vector<double> Axis::linear_ticks() const {
  const double power = std::pow(10, std::floor(std::log10((to_ - from_) / 5)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if ((to_ - from_) / (factor * power) <= 6) step = factor * power;
  }
  std::vector<double> ticks;
  for (int i = 0; from_ + i * step <= to_ * (1 + 1e-9); ++i) ticks.push_back(from_ + i * step);
  return ticks;
}

std::vector<double> Axis::logarithmic_ticks() const {
  const int first = static_cast<int>(std::floor(std::log10(from_)));
  const int last = static_cast<int>(std::floor(std::log10(to_)));
  const bool few = std::log10(to_ / from_) < 2.5;
  const int stride = 1 + (last - first) / 8;
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const int factor : {1, 2, 5}) {
      const double tick = factor * std::pow(10, exponent);
      const bool inside = tick >= from_ * (1 - 1e-9) && tick <= to_ * (1 + 1e-9);
      if (inside && (few || factor == 1)) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace pagerank::io
