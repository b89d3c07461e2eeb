#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_options.hpp"
#include "core/edge_list.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// How a result compares with the double reference.
struct Comparison {
  double largest_difference = 0;  ///< |y_i - reference_i| / |reference_i|
  bool correct = true;            ///< Each within rounding.
};

/// Compares sums of positive terms, row i of `lengths[i]` of them, computed in `precision`. Of the
/// library's sums only the bound of adding in any order, (16 + n) units roundoff, is asked; of
/// ours, which add more carefully, 16 + sqrt(n).
[[nodiscard]] Comparison compare_sums(std::span<const double> y, std::span<const double> reference,
                                      std::span<const EdgeIndex> row_offsets, Precision precision,
                                      bool library);

/// Throws NoDevice or NotCompiled where the benchmark needs a GPU and there is none: all do but
/// solve, which measures the CPU engine alone then.
void require_device(const BenchOptions& options);

/// Runs options.benchmark on one graph; `name` is what the table calls it. Throws what engines
/// throw, for lack of a GPU among it.
[[nodiscard]] io::BenchmarkTable run_benchmark(const BenchOptions& options, const std::string& name,
                                               EdgeList edges);

/// Whether some kernel computed something wrong.
[[nodiscard]] bool any_wrong(const io::BenchmarkTable& table);

}  // namespace pagerank::app::bench
