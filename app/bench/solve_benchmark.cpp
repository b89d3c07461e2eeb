#include "app/bench/solve_benchmark.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "app/bench/benchmarks.hpp"
#include "app/bench/host_benchmarks.hpp"
#include "app/bench/iteration_time.hpp"
#include "app/bench/stopwatch.hpp"
#include "core/compensated_sum.hpp"
#include "core/cpu_engine.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::app::bench {
namespace {

using io::BenchmarkRow;
using io::BenchmarkTable;

/// Seconds of a solve, the mean of as many by one engine as are asked for: the first, which finds
/// memory untouched, and others until `options.seconds` are over stand for the rest.
double solve_again_and_again(Engine& engine, const BenchOptions& options, Solution& solution) {
  const auto one_more = [&] {
    const Stopwatch one;
    solution = engine.solve({.alpha = options.alpha}, {.tolerance = options.tolerance});
    return one.seconds();
  };
  const Stopwatch all;
  const double first = one_more();
  double later = 0;
  std::uint32_t count = 1;
  for (; count < options.solves && (count < 3 || all.seconds() < options.seconds); ++count) {
    later += one_more();
  }
  if (count == 1) return first;
  const double rest = (options.solves - 1.0) / (count - 1.0) * later;
  return (first + rest) / options.solves;
}

/// What "solve" measures: engines of one kind, one after the other.
struct Contestant {
  BenchmarkRow row;
  /// Makes one of that kernel, and notes in the row what it is like.
  std::function<std::unique_ptr<Engine>(const std::string& kernel, BenchmarkRow&)> make;
  std::string came_to = {};  ///< The kernel that an engine had after its solves.
  std::vector<double> making = {}, solving = {};  ///< Seconds; a solve's is a mean.
  Solution solution = {};
};

/// Has `measure` measure the contestant, or notes in its row why that cannot be.
template <class Measure>
void attempt(Contestant& contestant, const Measure& measure) {
  if (!contestant.row.refusal.empty()) return;
  try {
    measure();
  } catch (const gpu::KernelRefused& error) {
    contestant.row.refusal = error.what();
  } catch (const OutOfMemory& error) {
    contestant.row.refusal = error.what();
  }
}

/// Has all make engines and solve in turns, as users have it do, so that what the machine does
/// meanwhile, and what the first of a process waits for, is no kernel's alone. Nor does one always
/// come behind the same other, nor at once: for a while after much memory of a device was freed
/// uploads are slower (docs/notebook/gpu.md).
void take_turns(std::vector<Contestant>& contestants, const BenchOptions& options) {
  constexpr std::size_t fewest = 5, most = 100;
  constexpr std::chrono::milliseconds rest(50);
  const auto count = static_cast<double>(contestants.size());
  double all = 0;  // seconds
  for (std::size_t turn = 0; turn < fewest || (turn < most && all < count * options.seconds);
       ++turn) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      Contestant& contestant = contestants[(turn % 2 == 0 ? i : contestants.size() - 1 - i)];
      std::this_thread::sleep_for(rest);
      const Stopwatch whole;
      attempt(contestant, [&] {
        const Stopwatch preparing;
        const std::unique_ptr<Engine> engine =
            contestant.make(contestant.row.kernel, contestant.row);
        contestant.making.push_back(preparing.seconds());
        contestant.solving.push_back(solve_again_and_again(*engine, options, contestant.solution));
        contestant.came_to = engine->kernel();
      });
      all += whole.seconds();
    }
    if (all > 20 * count * options.seconds) break;  // large graphs on few cores
  }
}

/// Fills in the row of one that has had its turns: medians of them, and the time of an iteration of
/// the kernel that it came to.
void sum_up(Contestant& contestant, const BenchOptions& options,
            const std::function<void()>& between = {}) {
  attempt(contestant, [&] {
    BenchmarkRow& row = contestant.row;
    const std::unique_ptr<Engine> engine = contestant.make(contestant.came_to, row);
    if (row.kernel == "auto") row.kernel += ":" + contestant.came_to;
    set_samples(row, time_iterations(*engine, options, between));
    row.bytes = engine->bytes_per_iteration();
    row.iterations = contestant.solution.iterations;
    row.prepare_seconds = median(contestant.making);
    row.solve_seconds = median(contestant.solving);
    row.error_bound = contestant.solution.error_bound;
  });
}

void judge_solution(BenchmarkRow& row, const Solution& solution, const Solution& reference) {
  CompensatedSum distance;
  for (std::size_t i = 0; i < solution.scores.size(); ++i) {
    distance.add(std::abs(solution.scores[i] - reference.scores[i]));
  }
  row.max_difference = distance.value();
  // Both certificates hold, or one of the two is wrong.
  if (!(distance.value() <= solution.error_bound + reference.error_bound)) {
    row.refusal = std::string(wrong_result) + ": scores further from the CPU engine's than both " +
                  "certificates allow";
  } else if (!solution.converged) {
    row.refusal = fmt::format("not converged: error bound {:.2e} after {} iterations",
                              solution.error_bound, solution.iterations);
  }
}

Contestant gpu_contestant(const BenchOptions& options, const TransitionMatrix& matrix,
                          std::string_view kernel) {
  gpu::EngineOptions engine_options{.device = options.device,
                                    .kernel = {},
                                    .expected = {.alpha = options.alpha,
                                                 .tolerance = options.tolerance,
                                                 .solves = options.solves},
                                    .precision = options.precision,
                                    .threads = options.threads,
                                    .memory_limit = options.gpu_memory,
                                    .device_loop = options.device_loop};
  return {.row = {.kernel = std::string(kernel),
                  .values = matrix.weighted() || gpu::is_library(kernel)},
          .make = [engine_options, &matrix](const std::string& name, BenchmarkRow& row) mutable {
            engine_options.kernel = name;
            auto engine = std::make_unique<gpu::Engine>(matrix, engine_options);
            row.loop = engine->loops_on_device() ? "device" : "host";
            return engine;
          }};
}

Contestant cpu_contestant(const BenchOptions& options, const TransitionMatrix& matrix,
                          CpuLayout layout) {
  const CpuEngineOptions engine_options{
      .threads = options.threads,
      .precision = options.precision,
      .layout = layout,
      .expected_iterations = static_cast<double>(options.solves) *
                             least_usual_iterations(options.alpha, options.tolerance)};
  return {.row = {.kernel = "cpu", .values = matrix.weighted(), .on_host = true},
          .make = [engine_options, &matrix](const std::string&, BenchmarkRow& row) {
            auto engine = std::make_unique<CpuEngine>(matrix, engine_options);
            row.kernel = engine->layout() == CpuLayout::plain ? "cpu:plain" : "cpu:blocked";
            return engine;
          }};
}

}  // namespace

void run_solve(const BenchOptions& options, const TransitionMatrix& matrix, BenchmarkTable& table) {
  const Solution reference = CpuEngine(matrix, {.threads = options.threads})
                                 .solve({.alpha = options.alpha}, {.tolerance = options.tolerance});
  const auto enter = [&](Contestant& contestant) {
    contestant.row.flops = matrix.link_count() * (matrix.weighted() ? 2 : 1);
    if (contestant.row.refusal.empty())
      judge_solution(contestant.row, contestant.solution, reference);
    table.rows.push_back(std::move(contestant.row));
  };
  const std::string no_gpu = gpu::unavailable_reason(options.device);
  if (!no_gpu.empty()) {
    for (const std::string& kernel : options.kernels) {
      if (!is_cpu_kernel(kernel)) table.rows.push_back({.kernel = kernel, .refusal = no_gpu});
    }
  } else {
    gpu::create_context(options.device);  // is no part of any row's preparation
    std::vector<std::string_view> names = {"auto"};
    for (const gpu::Kernel& kernel : gpu::kernels()) names.push_back(kernel.name);
    std::vector<Contestant> contestants;
    for (const std::string_view name : names) {
      if (asked_for(options, name)) contestants.push_back(gpu_contestant(options, matrix, name));
    }
    take_turns(contestants, options);
    for (Contestant& contestant : contestants) {
      sum_up(contestant, options);
      enter(contestant);
    }
  }
  std::vector<Contestant> cpu;
  for (const auto& [name, layout] : cpu_kernels) {
    if (options.kernels.empty() ? layout == CpuLayout::automatic : asked_for(options, name)) {
      cpu.push_back(cpu_contestant(options, matrix, layout));
    }
  }
  if (cpu.empty()) return;
  MemoryReading reading(matrix.link_count() * sizeof(NodeId), options.threads);
  reading.sample();
  take_turns(cpu, options);
  for (Contestant& contestant : cpu) sum_up(contestant, options, [&] { reading.sample(); });
  // The floor of an iteration on the host: its links' ids read once.
  BenchmarkRow floor = reading.row("read ids");
  floor.ceiling_bytes_per_second = floor.bytes_per_second();
  for (Contestant& contestant : cpu) {
    contestant.row.ceiling_bytes_per_second = floor.ceiling_bytes_per_second;
    enter(contestant);
  }
  table.rows.push_back(std::move(floor));
}

}  // namespace pagerank::app::bench
