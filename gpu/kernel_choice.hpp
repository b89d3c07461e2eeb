#pragma once

#include <cstdint>
#include <string_view>

#include "core/transition_matrix.hpp"
#include "core/types.hpp"

/// Which SpMV kernel is worth its preparation. Plain C++: the same choice with and without a GPU.
namespace pagerank::gpu {

/// What is known of a graph after a look at some of its links: the same for the same graph.
struct GraphShape {
  std::uint64_t nodes = 0;
  EdgeIndex links = 0;
  bool weighted = false;

  /// Of neighbouring links, how many different sectors of x (32 bytes) each asks for: 1 where they
  /// lead anywhere, less where they stay near or share hubs.
  double sectors_per_link = 1;

  /// Runs of links from one window to one row, per link (spmv_blocked.cu), in the better of the
  /// orders that `blocked` may take the nodes in.
  double runs_per_link = 1;

  /// Of the nodes, how many neither link nor are linked to.
  double isolated = 0;

  /// What an iteration leaves of the change, apart from alpha; an estimate.
  double mixing = 1;
};

/// `value_bytes`: of an element of x.
[[nodiscard]] GraphShape measure_shape(const TransitionMatrix& matrix, std::size_t value_bytes);

/// Seconds on an H100; other devices differ in all of them alike, about.
struct KernelCost {
  double prepare = 0;
  double iteration = 0;
};
[[nodiscard]] KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes);
[[nodiscard]] KernelCost cost_of_blocked(const GraphShape& shape, std::size_t value_bytes);

/// Iterations until the change promises the tolerance.
[[nodiscard]] double expected_iterations(const GraphShape& shape, double alpha, double tolerance);

/// What the engine will be asked for.
struct ExpectedWork {
  double alpha = 0.85;
  double tolerance = 1e-8;
  std::uint32_t solves = 1;
};

/// "balanced" or "blocked", whichever takes less time for that work, preparation included.
[[nodiscard]] std::string_view choose_kernel(const TransitionMatrix& matrix, Precision precision,
                                             const ExpectedWork& work);

}  // namespace pagerank::gpu
