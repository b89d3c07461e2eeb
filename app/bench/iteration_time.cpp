#include "app/bench/iteration_time.hpp"

#include <algorithm>
#include <limits>
#include <stop_token>

#include "app/bench/stopwatch.hpp"
#include "core/convergence.hpp"

namespace pagerank::app::bench {
namespace {

/// Seconds of one iteration of a solve that took so many, from when its observer heard of each:
/// from the 32nd to the last, which leaves out what a solve does once. A GPU tells of up to 32 at
/// once: from where one such lot ends. Of a solve that rounding ended before, from the middle one.
double iteration_seconds(const std::vector<double>& heard, double whole) {
  constexpr std::size_t first = 32;
  const std::size_t count = heard.size();
  const double mean = whole / static_cast<double>(count);
  std::size_t from = count > first ? first : std::max<std::size_t>(1, (count + 1) / 2);
  while (from < count && heard[from] - heard[from - 1] < mean / 8) ++from;
  if (from >= count) return mean;
  return (heard.back() - heard[from - 1]) / static_cast<double>(count - from);
}

}  // namespace

std::vector<double> time_iterations(Engine& engine, const BenchOptions& options,
                                    const std::function<void()>& between) {
  constexpr std::uint32_t most = 64;
  std::vector<double> samples;
  for (const Stopwatch all;
       samples.size() < 3 || (all.seconds() < options.seconds && samples.size() < 100);) {
    const Stopwatch one;
    std::vector<double> heard;
    // Iterations that the residual follows are not timed: there are some, however small the
    // tolerance is.
    constexpr double tolerance = std::numeric_limits<double>::min();
    const double last_change = change_to_certify(options.alpha, tolerance);
    std::stop_source at_rest;
    const auto observer = [&](const Progress& progress) {
      if (progress.change <= last_change) at_rest.request_stop();
      if (!at_rest.stop_requested() || heard.empty()) heard.push_back(one.seconds());
    };
    (void)engine.solve({.alpha = options.alpha}, {.tolerance = tolerance,
                                                  .max_iterations = most,
                                                  .observer = observer,
                                                  .stop = at_rest.get_token()});
    samples.push_back(iteration_seconds(heard, one.seconds()));
    if (between) between();
    if (all.seconds() > 20 * options.seconds) break;
  }
  return samples;
}

}  // namespace pagerank::app::bench
