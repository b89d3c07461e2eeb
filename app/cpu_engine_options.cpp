#include "app/cpu_engine_options.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/cpu_layout.hpp"
#include "gpu/pagerank.hpp"

namespace pagerank::app {
namespace {

/// On fewer links the CPU engine's iterations in double are the faster ones
/// (docs/notebook/cpu.md).
constexpr EdgeIndex mixed_links_on_cpu = 1 << 20;

}  // namespace

bool is_sure_to_rank_on_cpu(const Options& options) {
  return options.engine == EngineChoice::cpu ||
         (options.engine == EngineChoice::automatic && !gpu::has_driver());
}

CpuEngineOptions cpu_engine_options(const Options& options, EdgeIndex links, bool labelled) {
  CpuEngineOptions engine_options{
      .threads = options.threads,
      .precision = options.precision.value_or(links >= mixed_links_on_cpu ? Precision::mixed
                                                                          : Precision::float64),
      .expected_iterations = std::min<double>(
          options.max_iterations, least_usual_iterations(options.problem.alpha, options.tolerance)),
      .sizes = {}};
  if (labelled) engine_options.sizes.blocked.bytes_a_node += sizeof(std::uint64_t);
  return engine_options;
}

CpuLayout cpu_layout(const TransitionMatrix& matrix, Precision precision,
                     std::optional<std::uint64_t> available) {
  const std::uint64_t bytes = bytes_to_lay_out(matrix.in_links, precision != Precision::float64);
  if (!available || bytes <= *available) return CpuLayout::automatic;
  spdlog::info("the links stay as they are: {:.1f} GB of memory for another layout are not there",
               static_cast<double>(bytes) / 1e9);
  return CpuLayout::plain;
}

}  // namespace pagerank::app
