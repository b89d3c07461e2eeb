#pragma once

#include "core/transition_matrix.hpp"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// A TransitionMatrix in device memory, each number the same.
struct DeviceTransitionMatrix {
  DeviceBuffer<EdgeIndex> row_offsets;
  DeviceBuffer<NodeId> column_indices;
  DeviceBuffer<double> values;
  DeviceBuffer<double> inverse_out_weight;
  NodeId first_dangling = 0;
  std::uint64_t dangling = 0;  ///< Nodes.
  EdgeIndex distinct_links = 0;
  NodeId more_unlinked = 0;

  [[nodiscard]] std::uint64_t node_count() const { return inverse_out_weight.size(); }
  [[nodiscard]] EdgeIndex link_count() const { return column_indices.size(); }
  [[nodiscard]] bool weighted() const { return values.size() > 0; }
  [[nodiscard]] std::size_t bytes() const {
    return row_offsets.size() * sizeof(EdgeIndex) + column_indices.size() * sizeof(NodeId) +
           (values.size() + inverse_out_weight.size()) * sizeof(double);
  }
  [[nodiscard]] TransitionMatrix download() const;
};

}  // namespace pagerank::gpu
