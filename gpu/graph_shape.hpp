#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transition_matrix.hpp"
#include "core/types.hpp"
#include "gpu/device_traits.hpp"
#include "gpu/matrix_sampler.hpp"

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

/// So many links are on their way for nearly as long as what can be done meanwhile takes.
inline constexpr EdgeIndex least_links_to_prepare_early = EdgeIndex{1} << 23;

/// `blocked` takes the nodes in another order if that leaves less than so much of the runs.
inline constexpr double worth_renumbering = 0.8;

/// `value_bytes`: of an element of x; windows are as large as that device has room for.
[[nodiscard]] GraphShape measure_shape(const MatrixSampler& matrix, std::size_t value_bytes,
                                       const SharedMemory& shared_memory = {});
[[nodiscard]] inline GraphShape measure_shape(const TransitionMatrix& matrix,
                                              std::size_t value_bytes) {
  return measure_shape(HostSampler(matrix), value_bytes);
}

}  // namespace pagerank::gpu
