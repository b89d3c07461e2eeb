#include "app/bench/benchmarks.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/bench/host_benchmarks.hpp"
#include "app/bench/solve_benchmark.hpp"
#include "core/compensated_sum.hpp"
#include "core/cpu_engine.hpp"
#include "core/multiply.hpp"
#include "core/parallel.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/benchmark.hpp"

namespace pagerank::app::bench {
namespace {

using io::BenchmarkRow;
using io::BenchmarkTable;

/// Refuses the row's time where the result is not right.
void judge(BenchmarkRow& row, const Comparison& comparison) {
  row.max_difference = comparison.largest_difference;
  if (!comparison.correct) {
    row.refusal =
        fmt::format("{}: off by {:.2e} of an element", wrong_result, comparison.largest_difference);
  }
}

/// Whole numbers, one a node, of which `terms` add up exactly in the precision: from 1 up, or where
/// that would be ones alone, ones among zeros.
std::vector<double> test_vector(std::uint64_t nodes, std::uint64_t terms, Precision precision) {
  const std::uint64_t exact = largest_exact_term(terms, precision);
  const std::uint64_t largest = std::min<std::uint64_t>(exact, 1 << 20);
  const std::uint64_t one_of = terms / (largest_exact_term(1, precision) / 2) + 1;
  std::vector<double> x(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i) {
    const std::uint64_t random = (i * 0x9E3779B97F4A7C15) >> 32;
    x[i] = largest >= 3 ? static_cast<double>(1 + random % largest)
                        : static_cast<double>(random % one_of == 0);
  }
  return x;
}

std::uint64_t longest_row(const CsrMatrix& matrix) {
  std::uint64_t longest = 0;
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
    longest = std::max(longest, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
  }
  return longest;
}

/// One row of "spmv". `run` times the kernel and leaves its product in y.
BenchmarkRow measure_spmv(gpu::SpmvBenchmark& benchmark, const BenchOptions& options,
                          const gpu::Kernel& kernel, bool values, const TransitionMatrix& matrix,
                          std::span<const double> x, std::span<const double> reference) {
  BenchmarkRow row{.kernel = std::string(kernel.name), .values = values};
  row.flops = matrix.link_count() * (values ? 2 : 1);
  try {
    std::vector<double> y;
    const gpu::Timing timing = benchmark.run(kernel.name, x, y, {.seconds = options.seconds});
    row.prepare_seconds = timing.prepare_seconds;
    row.bytes = timing.bytes;
    set_samples(row, timing.samples);
    judge(row,
          compare_sums(
              y, reference,
              {.precision = options.precision, .narrow = !kernel.wide_sums, .whole = !values}));
  } catch (const gpu::KernelRefused& error) {
    row.refusal = error.what();
  } catch (const OutOfMemory& error) {
    row.refusal = error.what();
  }
  return row;
}

void run_spmv(const BenchOptions& options, const TransitionMatrix& matrix, BenchmarkTable& table) {
  const std::vector<double> x =
      test_vector(matrix.node_count(), longest_row(matrix.in_links), options.precision);
  for (const bool values : {false, true}) {
    if (!values && matrix.weighted()) continue;  // there is no doing without them
    std::vector<double> gathered = x;
    if (!matrix.weighted() && values) {
      for (std::size_t i = 0; i < x.size(); ++i) gathered[i] *= matrix.inverse_out_weight[i];
    }
    const std::vector<double> reference = multiply(matrix.in_links, gathered, options.threads);
    gpu::SpmvBenchmark benchmark(matrix, options.device, options.precision, values);
    for (const gpu::Kernel& kernel : gpu::kernels()) {
      if (!asked_for(options, kernel.name)) continue;
      if (!values && kernel.library) continue;  // it always reads values
      table.rows.push_back(measure_spmv(benchmark, options, kernel, values, matrix, x, reference));
    }
  }
}

void run_reduce(const BenchOptions& options, std::uint64_t length, BenchmarkTable& table) {
  const std::vector<double> x = test_vector(length, length, options.precision);
  CompensatedSum exact;
  for (const double element : x) exact.add(element);
  const std::vector<double> reference = {exact.value()};
  gpu::ReductionBenchmark benchmark(x, options.device, options.precision);
  for (const gpu::Kernel& kernel : gpu::reductions()) {
    if (!asked_for(options, kernel.name)) continue;
    BenchmarkRow row{.kernel = std::string(kernel.name)};
    row.flops = length;
    try {
      double sum = 0;
      const gpu::Timing timing = benchmark.run(kernel.name, sum, {.seconds = options.seconds});
      row.prepare_seconds = timing.prepare_seconds;
      row.bytes = timing.bytes;
      set_samples(row, timing.samples);
      judge(row, compare_sums(
                     std::vector<double>{sum}, reference,
                     {.precision = options.precision, .narrow = !kernel.wide_sums, .whole = true}));
    } catch (const gpu::KernelRefused& error) {
      row.refusal = error.what();
    }
    table.rows.push_back(std::move(row));
  }
}

void describe_device(const BenchOptions& options, BenchmarkTable& table) {
  const std::string reason = gpu::unavailable_reason(options.device);
  if (reason.empty()) {
    for (const gpu::Device& device : gpu::devices()) {
      if (device.index == options.device) table.device = device.name;
    }
    const gpu::Ceilings ceilings = gpu::measure_ceilings(options.device, options.precision);
    table.copy_bytes_per_second = ceilings.copy_bytes_per_second;
    table.fma_flops_per_second = ceilings.fma_flops_per_second;
  } else {
    table.device = "no GPU (" + reason + ")";
    if (table.benchmark == "solve")
      table.device = cpu_device(thread_count(options.threads)) + ", " + table.device;
  }
}

}  // namespace

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

void set_samples(BenchmarkRow& row, const std::vector<double>& samples) {
  row.median_seconds = median(samples);
  row.min_seconds = *std::min_element(samples.begin(), samples.end());
  row.samples = static_cast<std::uint32_t>(samples.size());
}

Comparison compare_sums(std::span<const double> y, std::span<const double> reference,
                        const SumsOf& sums) {
  const bool wide = sums.precision == Precision::float64;
  const double unit_roundoff = wide ? 0x1p-53 : 0x1p-24;
  Comparison comparison;
  comparison.correct = y.size() == reference.size();
  for (std::size_t row = 0; row < reference.size() && row < y.size(); ++row) {
    const double scale = std::max(std::abs(reference[row]), std::numeric_limits<double>::min());
    const double difference = std::abs(y[row] - reference[row]) / scale;
    const double roundings = wide || sums.narrow ? 128 : 5;
    const bool exact = sums.whole && reference[row] * unit_roundoff <= 1;
    const double allowed = exact ? 0 : roundings * unit_roundoff;
    if (!(difference <= allowed)) comparison.correct = false;
    if (!(difference <= comparison.largest_difference)) comparison.largest_difference = difference;
  }
  return comparison;
}

std::uint64_t largest_exact_term(std::uint64_t terms, Precision precision) {
  const auto most = std::uint64_t{1} << (precision == Precision::float64 ? 53 : 24);
  return std::max<std::uint64_t>(1, most / std::max<std::uint64_t>(1, terms));
}

void require_device(const BenchOptions& options) {
  const std::string reason = gpu::unavailable_reason(options.device);
  const bool cpu_can = (options.benchmark == Benchmark::load && !options.device_reader) ||
                       options.benchmark == Benchmark::build ||
                       (options.benchmark == Benchmark::solve && asks_for_cpu(options));
  if (reason.empty() || cpu_can || options.benchmark == Benchmark::none) return;
  if (gpu::kernels().empty()) throw gpu::NotCompiled();
  throw gpu::NoDevice(reason);
}

void run_benchmark(const BenchOptions& options, const std::string& name, EdgeList edges,
                   BenchmarkTable& table) {
  table = {.benchmark = name_of(options.benchmark), .graph = name, .version = PAGERANK_VERSION};
  table.precision = options.precision == Precision::float64 ? "double"
                    : options.precision == Precision::mixed ? "mixed"
                                                            : "float";
  table.nodes = edges.node_count;
  if (options.benchmark == Benchmark::build) {
    run_build(options, edges, table);
    return;
  }
  describe_device(options, table);
  if (options.benchmark == Benchmark::reduce) {
    table.links = table.nodes;
    run_reduce(options, table.nodes, table);
    return;
  }
  const TransitionMatrix matrix = make_transition_matrix(std::move(edges), options.threads);
  table.links = matrix.link_count();
  if (options.benchmark == Benchmark::spmv) {
    run_spmv(options, matrix, table);
  } else {
    run_solve(options, matrix, table);
  }
}

void run_load_benchmark(const BenchOptions& options, const std::string& path,
                        const std::string& name, BenchmarkTable& table) {
  table = {.benchmark = name_of(options.benchmark), .graph = name, .version = PAGERANK_VERSION};
  run_load(options, path, table);
}

bool any_wrong(const BenchmarkTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const BenchmarkRow& row) { return row.refusal.starts_with(wrong_result); });
}

}  // namespace pagerank::app::bench
