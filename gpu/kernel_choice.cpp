#include "gpu/kernel_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pagerank::gpu {
namespace {

/// So long iterations go on beside preparing `blocked`, and beside what is left of it where its
/// start was held: more only put off those of `blocked` (measured, docs/notebook/gpu.md).
constexpr double idle_while_prepared = 2.7e-3, idle_when_held = 0.8e-3;

/// Of an iteration: a gain below it is taken for none. The model's ratio of both is a tenth off,
/// and where it has them close what is prepared may be lost. (It binds on hubs, which take
/// `blocked` longer than it says.)
constexpr double least_gain = 0.025;

/// Of graphs of that size one whose links lead anywhere, in as few runs as can be, and that mixes
/// as slowly as can be.
GraphShape most_for_blocked(const MatrixSampler& matrix) {
  return {.nodes = matrix.node_count(),
          .links = matrix.link_count(),
          .weighted = matrix.weighted(),
          .sectors_per_link = 1,
          .runs_per_link = 0,
          .mixing = 1};
}

struct Costs {
  KernelCost balanced, blocked;
};

}  // namespace

double expected_iterations(const GraphShape& shape, double alpha, double tolerance) {
  const double change = tolerance * (1 - alpha) / alpha;
  if (!(change < 1)) return 1;
  return 1 + std::min(1000.0, std::log(change) / std::log(alpha * shape.mixing));
}

KernelChoice choose_kernel(const MatrixSampler& matrix, Precision precision,
                           const ExpectedWork& work, const DeviceTraits& device) {
  const KernelChoice balanced{.kernel = "balanced"}, blocked{.kernel = "blocked"};
  if (matrix.link_count() < least_links_to_look_at) return balanced;
  const std::size_t value_bytes = precision == Precision::float64 ? sizeof(double) : sizeof(float);
  const double bandwidth = device.memory_bandwidth;
  const auto costs_of = [&](const GraphShape& shape) {
    return Costs{.balanced = cost_of_balanced(shape, value_bytes, bandwidth),
                 .blocked = cost_of_blocked(shape, value_bytes, bandwidth)};
  };
  // Iterations that pay for so many seconds more.
  const auto payback = [](const Costs& costs, double seconds) {
    const double gained = costs.balanced.iteration - costs.blocked.iteration;
    return gained > least_gain * costs.balanced.iteration ? seconds / gained
                                                          : std::numeric_limits<double>::infinity();
  };
  // The same, for preparing `blocked` at once.
  const auto payback_at_once = [&](const Costs& costs) {
    return payback(costs, costs.blocked.prepare - costs.balanced.prepare);
  };
  const auto iterations = [&](const GraphShape& shape) {
    return work.solves * std::min<double>(work.max_iterations,
                                          expected_iterations(shape, work.alpha, work.tolerance));
  };
  // Looking takes about as long as such a solve.
  GraphShape best = most_for_blocked(matrix);
  Costs most = costs_of(best);
  best.isolated = 1;  // which costs `balanced` less, too
  most.blocked = cost_of_blocked(best, value_bytes, bandwidth);
  if (iterations(best) <= payback_at_once(most)) return balanced;
  GraphShape shape = measure_shape(matrix, value_bytes, device.shared_memory);
  const Costs costs = costs_of(shape);
  if (iterations(shape) > payback_at_once(costs)) return blocked;
  const bool early = matrix.link_count() >= least_links_to_prepare_early;
  const KernelCost late = early ? cost_of_held_blocked(shape, value_bytes, bandwidth)
                                : cost_of_late_blocked(shape, value_bytes, bandwidth);
  const double idle = early ? idle_when_held : idle_while_prepared;
  const double beside =
      std::max(1.0, std::floor(idle / costs.balanced.iteration));  // one runs in any case
  const double enough = payback(costs, late.prepare - beside * late.iteration);
  shape.mixing = 1;  // as slowly as can be
  if (iterations(shape) <= enough) return balanced;
  return {.kernel = "balanced",
          .payback = enough,
          .beside = static_cast<std::uint32_t>(beside),
          .early = early};
}

}  // namespace pagerank::gpu
