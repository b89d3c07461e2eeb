#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/bench/graph_spec.hpp"
#include "core/in_link_sums.hpp"
#include "core/types.hpp"

namespace pagerank::app::bench {

enum class Benchmark { none, spmv, solve, reduce, load, build };

/// What the command line of pagerank-bench asks for, checked.
struct BenchOptions {
  enum class Action { run, help, version };
  Action action = Action::run;

  Benchmark benchmark = Benchmark::none;  ///< None: only --write.
  std::vector<std::string> graphs;        ///< Paths and specifications of generated graphs.
  GraphDefaults generated;
  SourceIndex source = SourceIndex::row;  ///< Of files.

  int device = 0;
  int threads = 0;
  Precision precision = Precision::float32;
  std::vector<std::string> kernels;  ///< Names; empty: all.
  bool device_reader = false;        ///< Load: the GPU's reader too.
  double seconds = 0.3;              ///< Measured time of each row.
  double alpha = 0.85;
  double tolerance = 1e-6;
  std::size_t gpu_memory = 0;  ///< Bytes of it that may be taken; 0: what is free.
  bool device_loop = true;
  std::uint32_t solves = 1;  ///< Of each engine of "solve", and what kernel "auto" reckons with.

  std::string write, json, csv, plot;  ///< Files, or empty.
};

/// Whether a row of this name is to be measured.
[[nodiscard]] bool asked_for(const BenchOptions& options, std::string_view kernel);

/// What `solve` calls the CPU engine: as it would be, and with a layout that is not its choice.
inline constexpr std::array<std::pair<std::string_view, CpuLayout>, 3> cpu_kernels = {
    {{"cpu", CpuLayout::automatic},
     {"cpu:plain", CpuLayout::plain},
     {"cpu:blocked", CpuLayout::blocked}}};
[[nodiscard]] bool is_cpu_kernel(std::string_view kernel);
[[nodiscard]] bool asks_for_cpu(const BenchOptions& options);

/// Throws UsageError.
[[nodiscard]] BenchOptions parse_bench_options(int argc, const char* const* argv);

[[nodiscard]] std::string bench_help_text();

[[nodiscard]] const char* name_of(Benchmark benchmark);

}  // namespace pagerank::app::bench
