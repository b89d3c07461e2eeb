#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"
#include "core/types.hpp"
#include "gpu/device_traits.hpp"
#include "gpu/graph_shape.hpp"
#include "gpu/kernel_cost.hpp"
#include "gpu/matrix_sampler.hpp"

/// Which SpMV kernel is worth its preparation. Plain C++: the same choice, or the same doubt, with
/// and without a GPU.
namespace pagerank::gpu {

/// Iterations until the change promises the tolerance.
[[nodiscard]] double expected_iterations(const GraphShape& shape, double alpha, double tolerance);

/// What the engine will be asked for.
struct ExpectedWork {
  double alpha = 0.85;
  double tolerance = 1e-8;
  std::uint32_t solves = 1;
  std::uint32_t max_iterations = SolveOptions{}.max_iterations;  ///< Of a solve.
};

struct KernelChoice {
  std::string_view kernel;  ///< "balanced" or "blocked"

  /// Of "balanced": so many iterations that are still to come, in all solves together, pay for
  /// preparing "blocked" after all. Infinite where there will not be so many however slowly the
  /// graph mixes; else the changes of a solve's first iterations tell whether there will.
  double payback = std::numeric_limits<double>::infinity();

  /// So many iterations go by beside that preparation.
  std::uint32_t beside = 0;

  /// What can be done of it while the links arrive, if they do, is to be done then. Payback and
  /// `beside` reckon with that also where they do not, so that a solve gives the same bits wherever
  /// its matrix was built.
  bool early = false;

  [[nodiscard]] bool doubtful() const { return payback < std::numeric_limits<double>::infinity(); }
};

/// Smaller graphs are done before their shape is known.
inline constexpr EdgeIndex least_links_to_look_at = EdgeIndex{1} << 20;

/// Whichever takes less time for that work, preparation included, on such a device.
[[nodiscard]] KernelChoice choose_kernel(const MatrixSampler& matrix, Precision precision,
                                         const ExpectedWork& work, const DeviceTraits& device = {});
[[nodiscard]] inline KernelChoice choose_kernel(const TransitionMatrix& matrix, Precision precision,
                                                const ExpectedWork& work) {
  return choose_kernel(HostSampler(matrix), precision, work);
}

}  // namespace pagerank::gpu
