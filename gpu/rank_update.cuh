#pragma once

#include "core/types.hpp"
#include "gpu/iteration_loop.cuh"

namespace pagerank::gpu {

/// What the ranks of an iteration are made with, in device memory, so that a recorded iteration
/// serves any: x = alpha y + base (+ source), base = (alpha * dangling mass + teleport) / n.
struct RankScalars {
  double alpha;
  double teleport;  ///< What all nodes share besides: 1 - alpha, or 0 of a correction.
};

/// The state of a running solve in device memory; arrays of one element a node, in the kernel's
/// order. The ranks x themselves are not stored: z and out_weight tell the last ones well enough to
/// measure a change, y, base and source the next ones exactly.
template <class T>
struct RankState {
  std::uint64_t nodes;
  double graph_nodes;          ///< TransitionMatrix::graph_node_count()
  std::uint64_t isolated;      ///< Nodes at the end that have no links, and so all the same rank:
  double isolated_in_graph;    ///< so many with those that have no element of their own.
  T* z;                        ///< What the SpMV gathers: x / out_weight; of dangling nodes x.
  const T* y;                  ///< What the SpMV left: B x.
  const T* out_weight;         ///< What x is divided by; 0 marks a dangling node.
  const T* source;             ///< What each node gets besides; null: nothing.
  const RankScalars* scalars;  ///< One element.
  double* base;                ///< One element, left by the update.
  const NodeSums* sums;        ///< Of the iteration before.
  NodeSums* block_sums;        ///< update_blocks() elements of scratch.

  /// What update_ranks() moves at least, without source: y, out_weight, z read and written.
  [[nodiscard]] static std::uint64_t bytes_to_update(std::uint64_t nodes, std::uint64_t isolated) {
    return (nodes - isolated) * 4 * sizeof(T);
  }
};

/// Everything of an iteration but the SpMV, in one pass over the nodes: regularise (x as above),
/// scale the next z, and add up the L1 change and the new dangling mass, with which it ends the
/// iteration. Of the isolated nodes the first stands for all. Only queues the work.
template <class T>
void update_ranks(const RankState<T>& state, const IterationEnd& end, cudaStream_t stream);

/// Block sums that it needs room for.
[[nodiscard]] unsigned update_blocks(std::uint64_t nodes);

/// x[order[i]] = the rank that the last update_ranks() gave to element i (order null: x[i]); where
/// `add`, it is added to what is there. Only queues the work.
template <class T>
void write_ranks(const RankState<T>& state, const NodeId* order, bool add, double* x,
                 cudaStream_t stream);

/// The other way round: z of those ranks, for an iteration that is to go on from them.
template <class T>
void read_ranks(const RankState<T>& state, const NodeId* order, const double* x,
                cudaStream_t stream);

/// Scales x, of as many elements as `nodes`, so that they add up to 1, as those of x* do, where the
/// last one counts `more` times more. Columns
/// of G add up to 1, so that the sum of an error's elements, which rounding in float leaves,
/// shrinks by alpha an iteration whatever the graph; an error that adds up to 0 shrinks as fast as
/// the graph mixes. `block_sums`: update_blocks() elements, `sum`: one, of scratch. Only queues the
/// work.
void normalise(double* x, std::uint64_t nodes, double more, NodeSums* block_sums, NodeSums* sum,
               cudaStream_t stream);

extern template void update_ranks<float>(const RankState<float>&, const IterationEnd&,
                                         cudaStream_t);
extern template void update_ranks<double>(const RankState<double>&, const IterationEnd&,
                                          cudaStream_t);
extern template void read_ranks<float>(const RankState<float>&, const NodeId*, const double*,
                                       cudaStream_t);
extern template void read_ranks<double>(const RankState<double>&, const NodeId*, const double*,
                                        cudaStream_t);
extern template void write_ranks<float>(const RankState<float>&, const NodeId*, bool, double*,
                                        cudaStream_t);
extern template void write_ranks<double>(const RankState<double>&, const NodeId*, bool, double*,
                                         cudaStream_t);

}  // namespace pagerank::gpu
