#pragma once

#include "core/types.hpp"
#include "gpu/block_sums.cuh"

namespace pagerank::gpu {

/// The state of a running solve in device memory; arrays of one element a node, in the kernel's
/// order. The ranks x themselves are not stored: z and out_weight tell the last ones well enough to
/// measure a change, y and base the next ones exactly.
template <class T>
struct RankState {
  std::uint64_t nodes;
  T* z;                  ///< What the SpMV gathers: x / out_weight; of dangling nodes x.
  const T* y;            ///< What the SpMV left: B x.
  const T* out_weight;   ///< What x is divided by; 0 marks a dangling node.
  const double* alpha;   ///< One element: a recorded iteration serves any alpha.
  double* base;          ///< One element: x = alpha * y + base.
  NodeSums* sums;        ///< Of the iteration before, then of this one.
  NodeSums* block_sums;  ///< most_sum_blocks elements of scratch.

  /// What update_ranks() moves at least: y, out_weight, z read and written.
  [[nodiscard]] static std::uint64_t bytes_to_update(std::uint64_t nodes) {
    return nodes * 4 * sizeof(T);
  }
};

/// Everything of an iteration but the SpMV, in one pass over the nodes: regularise
/// (x = alpha y + (alpha * dangling mass + 1 - alpha) / n), scale the next z, and add up the L1
/// change and the new dangling mass: leaves update_blocks() block sums, which are to be added to
/// `sums`. Only queues the work.
template <class T>
void update_ranks(const RankState<T>& state, cudaStream_t stream);

[[nodiscard]] unsigned update_blocks(std::uint64_t nodes);

/// x[order[i]] = the rank that the last update_ranks() gave to element i (order null: x[i]). Only
/// queues the work.
template <class T>
void write_ranks(const RankState<T>& state, const NodeId* order, double* x, cudaStream_t stream);

extern template void update_ranks<float>(const RankState<float>&, cudaStream_t);
extern template void update_ranks<double>(const RankState<double>&, cudaStream_t);
extern template void write_ranks<float>(const RankState<float>&, const NodeId*, double*,
                                        cudaStream_t);
extern template void write_ranks<double>(const RankState<double>&, const NodeId*, double*,
                                         cudaStream_t);

}  // namespace pagerank::gpu
