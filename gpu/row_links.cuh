#pragma once

#include "gpu/device_algorithms.cuh"
#include "gpu/device_graph.cuh"
#include "gpu/link_tile.cuh"
#include "gpu/node_order.cuh"
#include "gpu/nonempty_rows.cuh"

namespace pagerank::gpu {

/// The links of a matrix with rows and columns in the base order; those of a row as they were. What
/// is not owned is the graph's.
template <class T>
struct RowLinks {
  const NodeId* columns = nullptr;
  const T* values = nullptr;  ///< Null: the matrix has none.
  NonemptyRows rows;          ///< In tiles of links_of_tile.
  DeviceBuffer<NodeId> own_columns;
  DeviceBuffer<T> own_values;

  [[nodiscard]] std::size_t own_bytes() const {
    return own_columns.size() * sizeof(NodeId) + own_values.size() * sizeof(T);
  }
};

/// Brings the links into that order as they arrive. Throws OutOfMemory, of links that get an order
/// of their own before it allocates.
template <class T>
[[nodiscard]] RowLinks<T> order_links(const DeviceGraph<T>& graph, const NodeOrder& base,
                                      DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
