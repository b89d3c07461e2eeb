#pragma once

#include "gpu/device_algorithms.cuh"
#include "gpu/device_graph.cuh"
#include "gpu/node_order.cuh"

namespace pagerank::gpu {

/// The links of a matrix with rows and columns in the base order; those of a row as they were. What
/// is not owned is the graph's.
template <class T>
struct RowLinks {
  const EdgeIndex* offsets = nullptr;  ///< Of the rows.
  const NodeId* columns = nullptr;
  const T* values = nullptr;  ///< Null: the matrix has none.
  DeviceBuffer<EdgeIndex> own_offsets;
  DeviceBuffer<NodeId> own_columns;
  DeviceBuffer<T> own_values;
};

/// Brings the links into that order as they arrive. Throws OutOfMemory before it allocates.
template <class T>
[[nodiscard]] RowLinks<T> order_links(const DeviceGraph<T>& graph, const NodeOrder& base,
                                      DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
