#include "gpu/kernel_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pagerank::gpu {
namespace {

/// So long iterations go on beside preparing `blocked`, and beside what is left of it where its
/// start was held: more only put off those of `blocked` (measured, docs/notebook/gpu.md).
constexpr double idle_while_prepared = 2.7e-3, idle_when_held = 0.8e-3;

/// Of an iteration: less than so much the model does not tell from a loss.
constexpr double least_gain = 0.025;

/// Of all that graphs of that size can be, what `blocked` gains the most with.
GraphShape most_for_blocked(const MatrixSampler& matrix) {
  return {.nodes = matrix.node_count(),
          .links = matrix.link_count(),
          .weighted = matrix.weighted(),
          .sectors_per_link = 1,
          .runs_per_link = 0,
          .isolated = 1,
          .mixing = 1};
}

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
  // Iterations that pay for so many seconds more.
  const auto payback = [&](const GraphShape& shape, double seconds) {
    const double iteration = cost_of_balanced(shape, value_bytes, bandwidth).iteration;
    const double gained = iteration - cost_of_blocked(shape, value_bytes, bandwidth).iteration;
    return gained > least_gain * iteration ? seconds / gained
                                           : std::numeric_limits<double>::infinity();
  };
  // The same, for preparing `blocked` at once.
  const auto payback_at_once = [&](const GraphShape& shape) {
    return payback(shape, cost_of_blocked(shape, value_bytes, bandwidth).prepare -
                              cost_of_balanced(shape, value_bytes, bandwidth).prepare);
  };
  const auto iterations = [&](const GraphShape& shape) {
    return work.solves * std::min<double>(work.max_iterations,
                                          expected_iterations(shape, work.alpha, work.tolerance));
  };
  // Looking takes about as long as such a solve.
  const GraphShape best = most_for_blocked(matrix);
  if (iterations(best) <= payback_at_once(best)) return balanced;
  GraphShape shape = measure_shape(matrix, value_bytes, device.shared_memory);
  if (iterations(shape) > payback_at_once(shape)) return blocked;
  const bool early = matrix.link_count() >= least_links_to_prepare_early;
  const KernelCost plain = cost_of_balanced(shape, value_bytes, bandwidth),
                   late = early ? cost_of_held_blocked(shape, value_bytes, bandwidth)
                                : cost_of_late_blocked(shape, value_bytes, bandwidth);
  const double idle = early ? idle_when_held : idle_while_prepared;
  const double beside = std::max(1.0, std::floor(idle / plain.iteration));  // one runs in any case
  const double enough = payback(shape, late.prepare - beside * late.iteration);
  shape.mixing = 1;  // as slowly as can be
  if (iterations(shape) <= enough) return balanced;
  return {.kernel = "balanced",
          .payback = enough,
          .beside = static_cast<std::uint32_t>(beside),
          .early = early};
}

}  // namespace pagerank::gpu
