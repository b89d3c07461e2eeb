#include "app/engine_choice.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/cpu_engine_options.hpp"
#include "app/host_memory.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::app {
namespace {

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
                         .expected = {.alpha = options.problem.alpha,
                                      .tolerance = options.tolerance,
                                      .max_iterations = options.max_iterations},
                         .precision = precision,
                         .threads = options.threads,
                         .memory_limit = options.gpu_memory});
  return {std::move(engine), "gpu", precision, ""};
}

ChosenEngine make_cpu_engine(const Options& options, LoadedGraph& graph, std::string why) {
  const bool labelled = !graph.labels.empty();
  if (graph.blocked_matrix) {
    const CpuEngineOptions of_graph =
        cpu_engine_options(options, graph.blocked_matrix->link_count(), labelled);
    return {std::make_unique<CpuEngine>(*std::move(graph.blocked_matrix), of_graph), "cpu",
            of_graph.precision, std::move(why)};
  }
  CpuEngineOptions of_graph = cpu_engine_options(options, graph.matrix.link_count(), labelled);
  of_graph.layout = cpu_layout(graph.matrix, of_graph.precision, available_host_memory());
  return {std::make_unique<CpuEngine>(std::move(graph.matrix), of_graph), "cpu", of_graph.precision,
          std::move(why)};
}

}  // namespace

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
  if (graph.blocked_matrix) {
    std::string why =
        options.engine == EngineChoice::cpu ? "" : gpu::unavailable_reason(options.device);
    return make_cpu_engine(options, graph, std::move(why));
  }
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
