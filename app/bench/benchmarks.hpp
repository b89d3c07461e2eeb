#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_options.hpp"
#include "core/edge_list.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// What the refusal of a row begins with whose kernel computed something wrong.
constexpr const char* wrong_result = "wrong result";

/// How a result compares with the double reference.
struct Comparison {
  double largest_difference = 0;  ///< |y_i - reference_i| / |reference_i|
  bool correct = true;            ///< Each within rounding.
};

/// What is known of the sums that are compared.
struct SumsOf {
  Precision precision;
  bool narrow = false;  ///< Floats are added up in float.
  bool whole = false;   ///< The terms are whole numbers.
};

/// Compares sums of positive terms with the reference. Whole numbers have to add up exactly as far
/// as the precision holds their sum: no term can be lost, however many there are. Others get a
/// number of roundings: 5 in float where they are added in double, else 128, more than any of the
/// kernels adds one after the other.
[[nodiscard]] Comparison compare_sums(std::span<const double> y, std::span<const double> reference,
                                      const SumsOf& sums);

/// The largest whole number of which `terms` add up exactly in the precision; at least 1.
[[nodiscard]] std::uint64_t largest_exact_term(std::uint64_t terms, Precision precision);

/// Of one number or more.
[[nodiscard]] double median(std::vector<double> samples);

/// Sets the times of a row from those measured, in seconds.
void set_samples(io::BenchmarkRow& row, const std::vector<double>& samples);

/// Throws NoDevice or NotCompiled where the benchmark needs a GPU and there is none: all do but
/// load (without the GPU's reader), build and, if the CPU engine is among what it is to measure,
/// solve.
void require_device(const BenchOptions& options);

/// Runs options.benchmark on one graph; `name` is what the table calls it. Throws what engines
/// throw, for lack of a GPU among it; the table then has what was measured before.
void run_benchmark(const BenchOptions& options, const std::string& name, EdgeList edges,
                   io::BenchmarkTable& table);

/// Runs "load" on a file.
void run_load_benchmark(const BenchOptions& options, const std::string& path,
                        const std::string& name, io::BenchmarkTable& table);

/// Whether some kernel computed something wrong.
[[nodiscard]] bool any_wrong(const io::BenchmarkTable& table);

}  // namespace pagerank::app::bench
