#pragma once

#include <functional>
#include <vector>

#include "app/bench/bench_options.hpp"
#include "core/pagerank.hpp"

namespace pagerank::app::bench {

/// Seconds of one iteration, a sample a solve, without what a solve does once and without
/// residuals: as many as `options.seconds` are enough for, three at least where they do not take
/// twenty times that. `between` is called between two solves.
[[nodiscard]] std::vector<double> time_iterations(Engine& engine, const BenchOptions& options,
                                                  const std::function<void()>& between = {});

}  // namespace pagerank::app::bench
