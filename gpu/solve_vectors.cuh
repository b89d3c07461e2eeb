#pragma once

#include "gpu/device_graph.cuh"
#include "gpu/rank_update.cuh"
#include "gpu/residual.cuh"
#include "gpu/scratch_memory.cuh"

namespace pagerank::gpu {

/// The places of RankScalars, each for one kind of update.
struct ScalarSets {
  enum Set { ranks, first_ranks, correction, first_correction, count };
};

/// The vectors of a solve, in device memory, and what evaluates its certificate.
template <class T>
struct SolveVectors {
  /// The links of the graph may still be on their way. Throws OutOfMemory.
  SolveVectors(const DeviceGraph<T>& graph, bool mixed, cudaStream_t stream)
      : memory(graph.reserved()
                   ? *graph.reserved()
                   : ScratchMemory(stream, bytes(graph.node_count(), mixed), graph.most_held())),
        residual(graph.arriving_exact_in_links(), graph.inverse_out_weight(),
                 static_cast<double>(graph.more_unlinked()), memory, graph.reserved()),
        out_weight(graph.node_count(), memory),
        x(graph.node_count(), memory),
        y(graph.node_count(), memory),
        z(graph.node_count(), memory),
        source(mixed ? graph.node_count() : 0, memory),
        sums(2, memory),
        block_sums(update_blocks(graph.node_count()), memory),
        scalars(ScalarSets::count, memory),
        base(1, memory) {}

  /// Of all that is in `memory`, array by array.
  [[nodiscard]] static std::size_t bytes(std::uint64_t nodes, bool mixed) {
    const auto bytes = [](std::size_t size) { return ScratchMemory::rounded(size); };
    return Residual::vector_bytes(nodes) + bytes(nodes * sizeof(double)) +
           (mixed ? 4 : 3) * bytes(nodes * sizeof(T)) + bytes(2 * sizeof(NodeSums)) +
           bytes(update_blocks(nodes) * sizeof(NodeSums)) +
           bytes(ScalarSets::count * sizeof(RankScalars)) + bytes(sizeof(double));
  }

  ScratchMemory memory;  ///< What is reserved, or in one piece.
  Residual residual;
  DeviceBuffer<T> out_weight;  ///< In the kernel's order, as y, z and source.
  DeviceBuffer<double> x;      ///< In node order; where scores are written.
  DeviceBuffer<T> y, z;
  DeviceBuffer<T> source;       ///< Mixed: what a correction is of.
  DeviceBuffer<NodeSums> sums;  ///< Of the iteration, of the residual.
  DeviceBuffer<NodeSums> block_sums;
  DeviceBuffer<RankScalars> scalars;
  DeviceBuffer<double> base;
};

}  // namespace pagerank::gpu
