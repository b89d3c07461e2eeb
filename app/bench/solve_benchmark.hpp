#pragma once

#include "app/bench/bench_options.hpp"
#include "core/transition_matrix.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// "solve": times how engines of every kernel, and the CPU's, are made and solve, in turns, and
/// then their iterations. Scores must be as near to the CPU engine's as both certificates say.
void run_solve(const BenchOptions& options, const TransitionMatrix& matrix,
               io::BenchmarkTable& table);

}  // namespace pagerank::app::bench
