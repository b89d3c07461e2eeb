#pragma once

#include "core/types.hpp"
#include "gpu/block_sums.cuh"

namespace pagerank::gpu {

/// The state of a running solve in device memory; arrays of one element a node. What the SpMV
/// gathers and leaves is in T; the ranks stay in double, so that float costs them few digits.
template <class T>
struct RankState {
  std::uint64_t nodes;
  double* x;                         ///< The ranks.
  T* z;                              ///< x * inverse_out_weight: what the SpMV gathers.
  const T* y;                        ///< What the SpMV left: B x.
  const double* inverse_out_weight;  ///< 0 marks a dangling node.
  const double* alpha;               ///< One element: a recorded iteration serves any alpha.
  NodeSums* sums;                    ///< Of the iteration before, then of this one.
  NodeSums* block_sums;              ///< most_sum_blocks elements of scratch.

  /// What update_ranks() moves at least: x read and written, y, inverse_out_weight, z.
  [[nodiscard]] static std::uint64_t bytes_to_update(std::uint64_t nodes) {
    return nodes * (3 * sizeof(double) + 2 * sizeof(T));
  }
};

/// Everything of an iteration but the SpMV, in one pass over the nodes: regularise
/// (x = alpha y + (alpha * dangling mass + 1 - alpha) / n), scale the next z, and add up the L1
/// change and the new dangling mass. Only queues the work.
template <class T>
void update_ranks(const RankState<T>& state, cudaStream_t stream);

extern template void update_ranks<float>(const RankState<float>&, cudaStream_t);
extern template void update_ranks<double>(const RankState<double>&, cudaStream_t);

}  // namespace pagerank::gpu
