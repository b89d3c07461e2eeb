#pragma once

#include <chrono>
#include <utility>

namespace pagerank::app {

/// Times consecutive phases by wall clock.
class PhaseClock {
 public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    const auto now = Clock::now();
    return seconds(std::exchange(lap_, now), now);
  }
  /// The same, and the phase goes on.
  [[nodiscard]] double so_far() const { return seconds(lap_, Clock::now()); }
  [[nodiscard]] double total() const { return seconds(start_, Clock::now()); }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }
  Clock::time_point start_ = Clock::now();
  Clock::time_point lap_ = start_;
};

}  // namespace pagerank::app
