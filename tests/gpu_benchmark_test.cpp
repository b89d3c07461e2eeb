// What pagerank-bench measures on a GPU: single kernels and reductions, right before they are fast.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "app/bench/benchmarks.hpp"
#include "core/multiply.hpp"
#include "gpu/benchmark.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/shared_memory_limit.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

TEST_CASE("every kernel multiplies as the reference does, with values and without") {
  if (tested_engines() != "gpu") return;
  for (const NamedGraph& graph : graphs()) {
    CAPTURE(graph.name);
    const TransitionMatrix matrix = make_transition_matrix(graph.edges);
    std::vector<double> x(matrix.node_count()), scaled(matrix.node_count());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 0.5 + static_cast<double>(i * 7919 % 1024) / 1024;
      scaled[i] = x[i] * matrix.inverse_out_weight[i];
    }
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      for (const bool values : {false, true}) {
        if (precision == Precision::float32 && graph.name == "weights beyond float") continue;
        const std::vector<double> reference =
            multiply(matrix.in_links, values && !matrix.weighted() ? scaled : x);
        gpu::SpmvBenchmark benchmark(matrix, 0, precision, values);
        for (const gpu::Kernel& kernel : gpu::kernels()) {
          CAPTURE(std::string(kernel.name));
          std::vector<double> y;
          try {
            const gpu::Timing timing =
                benchmark.run(kernel.name, x, y, {.seconds = 0, .least_samples = 1});
            CHECK(timing.bytes >= matrix.node_count() * (precision == Precision::float64 ? 8 : 4));
            CHECK(timing.samples.size() == 1);
          } catch (const gpu::KernelRefused&) {
            CHECK(kernel.name == "ell");
            continue;
          }
          CHECK(app::bench::compare_sums(y, reference,
                                         {.precision = precision, .narrow = !kernel.wide_sums})
                    .correct);
        }
      }
    }
  }
}

TEST_CASE("a benchmark of SpMV refuses a vector of another length, and goes on") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(graphs().front().edges);
  gpu::SpmvBenchmark benchmark(matrix, 0, Precision::float32, false);
  std::vector<double> y, x(matrix.node_count() + std::size_t{1});
  CHECK_THROWS_AS((void)benchmark.run("balanced", x, y, {.seconds = 0, .least_samples = 1}),
                  std::invalid_argument);
  x.pop_back();
  CHECK(benchmark.run("balanced", x, y, {.seconds = 0, .least_samples = 1}).samples.size() == 1);
}

TEST_CASE("rows of any length and nodes in many windows: every balanced kernel multiplies right") {
  if (tested_engines() != "gpu") return;
  // For blocked: giants of one and of several row blocks, rows that warps add up, lists of every
  // length, and rows without links, over two windows of floats and four of doubles; more of all
  // with less shared memory. (A run is 127 links of a row and window at most, a row block of floats
  // has 28671 runs, a giant more than 3584.)
  std::mt19937_64 random(41);
  constexpr NodeId nodes = 100'000;
  EdgeList edges;
  edges.node_count = nodes;
  const auto row = [&](NodeId target, std::size_t links) {
    for (std::size_t k = 0; k < links; ++k) {
      edges.add_entry(SourceIndex::row, static_cast<NodeId>(random() % nodes), target);
    }
  };
  row(0, 2'000'000);
  row(60'000, 300'000);
  row(nodes - 1, 150'000);
  for (NodeId i = 0; i < 300; ++i) row(1000 + 7 * i, i);
  for (NodeId i = 0; i < 20; ++i) row(70'000 + i, 9000);
  for (NodeId i = 0; i < 5000; ++i) row(static_cast<NodeId>(random() % nodes), 3);
  for (std::size_t k = 0; k < 5000; ++k) edges.add_entry(SourceIndex::row, 5, 6);  // repeated
  const TransitionMatrix matrix = make_transition_matrix(edges);
  std::vector<double> x(nodes), scaled(nodes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(1 + i * 7919 % 11);
    scaled[i] = x[i] * matrix.inverse_out_weight[i];
  }
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    for (const bool values : {false, true}) {
      const std::vector<double> reference = multiply(matrix.in_links, values ? scaled : x);
      gpu::SpmvBenchmark benchmark(matrix, 0, precision, values);
      const auto check = [&](const std::string& kernel) {
        CAPTURE(kernel);
        std::vector<double> first, again;
        for (std::vector<double>* y : {&first, &again}) {
          (void)benchmark.run(kernel, x, *y, {.seconds = 0, .least_samples = 1});
        }
        CHECK(first == again);
        CHECK(app::bench::compare_sums(
                  first, reference,
                  {.precision = precision, .narrow = kernel == "blocked", .whole = !values})
                  .correct);
      };
      check("balanced");
      check("blocked");
      for (const std::size_t bytes : smaller_shared_memories) {
        CAPTURE(bytes);
        const SharedMemoryLimit limit(bytes);
        check("blocked");
      }
    }
  }
}

TEST_CASE("pagerank-bench has a row for every kernel, and a time for every right one") {
  if (tested_engines() != "gpu") return;
  app::bench::BenchOptions options;
  options.seconds = 0.001;
  for (const auto benchmark :
       {app::bench::Benchmark::spmv, app::bench::Benchmark::solve, app::bench::Benchmark::reduce}) {
    options.benchmark = benchmark;
    const EdgeList edges = graph_of_row_lengths(3000, {3, 0, 7, 1, 2, 80}, 8);
    io::BenchmarkTable table;
    app::bench::run_benchmark(options, "g", edges, table);
    CAPTURE(table.benchmark);
    const std::size_t kernels = gpu::kernels().size();
    CHECK(table.rows.size() == (benchmark == app::bench::Benchmark::spmv    ? 2 * kernels - 2
                                : benchmark == app::bench::Benchmark::solve ? kernels + 3
                                                                            : 4));
    CHECK(table.copy_bytes_per_second > 1e9);
    CHECK(table.baseline_seconds().has_value());
    CHECK_FALSE(app::bench::any_wrong(table));
    for (const io::BenchmarkRow& row : table.rows) {
      CAPTURE(row.kernel);
      CHECK(row.refusal.empty() == (row.kernel != "ell"));
      if (row.refusal.empty()) CHECK(row.median_seconds > 0);
    }
  }
}

TEST_CASE("every reduction adds up vectors of any length") {
  if (tested_engines() != "gpu") return;
  CHECK(gpu::reductions().size() == 4);
  for (const std::size_t length : {1U, 31U, 32U, 33U, 1000U, (1U << 20) + 7, (1U << 24) + 3}) {
    std::vector<double> x(length);
    double sum = 0;  // of numbers that add up exactly
    for (std::size_t i = 0; i < length; ++i) {
      x[i] = static_cast<double>(i * 7919 % 1024) - 512;
      sum += std::abs(x[i]);
    }
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      gpu::ReductionBenchmark benchmark(x, 0, precision);
      for (const gpu::Kernel& reduction : gpu::reductions()) {
        CAPTURE(std::string(reduction.name));
        double found = 0;
        CHECK_FALSE(benchmark.run(reduction.name, found, {.seconds = 0, .least_samples = 1})
                        .samples.empty());
        CHECK(found ==
              doctest::Approx(sum).epsilon(precision == Precision::float64 ? 1e-15 : 1e-6));
      }
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
