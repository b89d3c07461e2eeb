#include "app/engine_choice.hpp"

#include <algorithm>

#include "core/cpu_engine.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::app {
namespace {

ChosenEngine make_gpu_engine(const Options& options, const TransitionMatrix& matrix) {
  auto engine =
      std::make_unique<gpu::Engine>(matrix, gpu::EngineOptions{.device = options.device,
                                                               .kernel = options.kernel,
                                                               .precision = options.precision,
                                                               .threads = options.threads});
  std::string kernel(engine->kernel());
  return {std::move(engine), "gpu", std::move(kernel), ""};
}

ChosenEngine make_cpu_engine(const Options& options, const TransitionMatrix& matrix,
                             std::string why) {
  return {std::make_unique<CpuEngine>(
              matrix, CpuEngineOptions{.threads = options.threads, .precision = options.precision}),
          "cpu", "", std::move(why)};
}

}  // namespace

void require_engine(const Options& options) {
  const std::vector<gpu::Kernel> kernels = gpu::kernels();
  if (!options.kernel.empty() && !kernels.empty() &&
      std::none_of(kernels.begin(), kernels.end(),
                   [&](const gpu::Kernel& kernel) { return kernel.name == options.kernel; })) {
    throw UsageError("--kernel: there is no '" + options.kernel + "', see --list-kernels");
  }
  if (options.engine != EngineChoice::gpu) return;
  if (kernels.empty()) throw gpu::NotCompiled();
  if (const std::string reason = gpu::unavailable_reason(options.device); !reason.empty()) {
    throw gpu::NoDevice(reason);
  }
}

ChosenEngine choose_engine(const Options& options, const TransitionMatrix& matrix) {
  switch (options.engine) {
    case EngineChoice::gpu:
      return make_gpu_engine(options, matrix);
    case EngineChoice::cpu:
      return make_cpu_engine(options, matrix, "");
    case EngineChoice::automatic:
      break;
  }
  if (std::string reason = gpu::unavailable_reason(options.device); !reason.empty()) {
    return make_cpu_engine(options, matrix, std::move(reason));
  }
  try {
    return make_gpu_engine(options, matrix);
  } catch (const gpu::NoDevice& error) {
    return make_cpu_engine(options, matrix, error.what());
  } catch (const OutOfMemory& error) {
    return make_cpu_engine(options, matrix, error.what());
  }
}

}  // namespace pagerank::app
