#pragma once

#include "gpu/device_algorithms.cuh"
#include "gpu/device_graph.cuh"

namespace pagerank::gpu {

/// An order of the nodes, and back; null pointers: as they are numbered.
struct NodeOrderView {
  const NodeId* node_at;
  const NodeId* place_of;
  [[nodiscard]] __host__ __device__ bool is_identity() const { return node_at == nullptr; }
  [[nodiscard]] __device__ NodeId node(std::uint64_t place) const {
    return node_at != nullptr ? node_at[place] : static_cast<NodeId>(place);
  }
  [[nodiscard]] __device__ NodeId base(NodeId node) const {
    return place_of != nullptr ? place_of[node] : node;
  }
};

/// The order of nodes in which the links of a row fall into few windows of `window_size`: by
/// falling out-degree where a few nodes are the source of most links, as they are numbered where
/// links reach near, whichever a sample of the links finds better. In the latter case rows that are
/// much longer than most go last. Nodes that neither link nor are linked to come after all others,
/// unless all stay as numbered; of an R-MAT graph they are nearly half.
class NodeOrder {
 public:
  template <class T>
  NodeOrder(const DeviceGraph<T>& graph, std::uint32_t window_size, DeviceAlgorithms& algorithms);

  [[nodiscard]] NodeOrderView view() const { return {node_at_.data(), place_of_.data()}; }

  /// All places of nodes with out-links are below.
  [[nodiscard]] std::uint64_t sources() const { return sources_; }
  /// All places of nodes with any links are below.
  [[nodiscard]] std::uint64_t linked() const { return linked_; }

  /// The offsets of the matrix with its rows in this order. Queued.
  [[nodiscard]] DeviceBuffer<EdgeIndex> row_offsets(const EdgeIndex* of_matrix, std::uint64_t rows,
                                                    DeviceAlgorithms& algorithms) const;

 private:
  std::uint64_t sources_, linked_;
  DeviceBuffer<NodeId> node_at_, place_of_;
};

}  // namespace pagerank::gpu
