#include "app/engine_choice.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/host_memory.hpp"
#include "core/in_link_sums.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::app {
namespace {

/// On fewer links the CPU engine's iterations in double are the faster ones
/// (docs/performance-cpu.md).
constexpr EdgeIndex mixed_links_on_cpu = 1 << 20;

Precision cpu_precision(const Options& options, const TransitionMatrix& matrix) {
  return options.precision.value_or(matrix.link_count() >= mixed_links_on_cpu ? Precision::mixed
                                                                              : Precision::float64);
}

/// Of a matrix in main memory, or one on the GPU, which is taken over.
template <class Matrix>
ChosenEngine make_gpu_engine(const Options& options, Matrix&& matrix) {
  // A library's sums of floats may lose so much of long rows that corrections bring nothing nearer.
  const Precision precision = options.precision.value_or(
      gpu::is_library(options.kernel) ? Precision::float64 : Precision::mixed);
  auto engine = std::make_unique<gpu::Engine>(
      std::forward<Matrix>(matrix),
      gpu::EngineOptions{.device = options.device,
                         .kernel = options.kernel,
                         .expected = {options.problem.alpha, options.tolerance, 1},
                         .precision = precision,
                         .threads = options.threads,
                         .memory_limit = options.gpu_memory});
  return {std::move(engine), "gpu", precision, ""};
}

ChosenEngine make_cpu_engine(const Options& options, LoadedGraph& graph, std::string why) {
  const Precision precision = cpu_precision(options, graph.matrix);
  CpuEngineOptions engine_options{
      .threads = options.threads,
      .precision = precision,
      .layout = cpu_layout(graph.matrix, precision, available_host_memory()),
      .expected_iterations =
          std::min<double>(options.max_iterations,
                           least_usual_iterations(options.problem.alpha, options.tolerance))};
  if (!graph.labels.empty()) engine_options.sizes.blocked.bytes_a_node += sizeof(graph.labels[0]);
  return {std::make_unique<CpuEngine>(std::move(graph.matrix), engine_options), "cpu", precision,
          std::move(why)};
}

}  // namespace

CpuLayout cpu_layout(const TransitionMatrix& matrix, Precision precision,
                     std::optional<std::uint64_t> available) {
  const std::uint64_t bytes = bytes_to_lay_out(matrix.in_links, precision != Precision::float64);
  if (!available || bytes <= *available) return CpuLayout::automatic;
  spdlog::info("the links stay as they are: {:.1f} GB of memory for another layout are not there",
               static_cast<double>(bytes) / 1e9);
  return CpuLayout::plain;
}

void require_engine(const Options& options) {
  const std::vector<gpu::Kernel> kernels = gpu::kernels();
  if (options.kernel != "auto" && !kernels.empty() &&
      std::none_of(kernels.begin(), kernels.end(),
                   [&](const gpu::Kernel& kernel) { return kernel.name == options.kernel; })) {
    throw UsageError("--kernel: there is no '" + options.kernel + "', see --list-kernels");
  }
  if (options.engine != EngineChoice::gpu && options.reader != ReaderChoice::device) return;
  if (kernels.empty()) throw gpu::NotCompiled();
  if (const std::string reason = gpu::unavailable_reason(options.device); !reason.empty()) {
    throw gpu::NoDevice(reason);
  }
}

ChosenEngine choose_engine(const Options& options, LoadedGraph& graph) {
  if (graph.device_matrix) return make_gpu_engine(options, *std::move(graph.device_matrix));
  TransitionMatrix& matrix = graph.matrix;
  switch (options.engine) {
    case EngineChoice::gpu:
      return make_gpu_engine(options, matrix);
    case EngineChoice::cpu:
      return make_cpu_engine(options, graph, "");
    case EngineChoice::automatic:
      break;
  }
  if (std::string reason = gpu::unavailable_reason(options.device); !reason.empty()) {
    return make_cpu_engine(options, graph, std::move(reason));
  }
  try {
    return make_gpu_engine(options, matrix);
  } catch (const gpu::NoDevice& error) {
    return make_cpu_engine(options, graph, error.what());
  } catch (const OutOfMemory& error) {
    return make_cpu_engine(options, graph, error.what());
  }
}

}  // namespace pagerank::app
