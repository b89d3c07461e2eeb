#pragma once

#include <type_traits>

#include "core/transition_matrix.hpp"
#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// A transition matrix in device memory, as TransitionMatrix describes it, its values in T.
/// Kernels take it as it is or make a layout of their own from it.
template <class T>
class DeviceGraph {
 public:
  explicit DeviceGraph(const TransitionMatrix& matrix)
      : row_offsets_(matrix.in_links.row_offsets),
        column_indices_(matrix.in_links.column_indices),
        exact_values_(matrix.in_links.values),
        values_(std::is_same_v<T, double> ? 0 : exact_values_.size()),
        inverse_out_weight_(matrix.inverse_out_weight) {
    if (values_.size() > 0) {
      const std::vector<double>& exact = matrix.in_links.values;
      values_.upload(std::vector<T>(exact.begin(), exact.end()));
    }
  }

  /// What the constructor will allocate.
  [[nodiscard]] static std::size_t bytes(const TransitionMatrix& matrix) {
    const std::size_t value_bytes = sizeof(double) + (std::is_same_v<T, double> ? 0 : sizeof(T));
    return (std::size_t{matrix.node_count()} + 1) * sizeof(EdgeIndex) +
           matrix.link_count() * (sizeof(NodeId) + (matrix.weighted() ? value_bytes : 0)) +
           matrix.node_count() * sizeof(double);
  }

  [[nodiscard]] std::uint64_t node_count() const { return inverse_out_weight_.size(); }
  [[nodiscard]] EdgeIndex link_count() const { return column_indices_.size(); }

  /// The in-links with values in T: what an iteration multiplies with.
  [[nodiscard]] CsrView<T> in_links() const {
    if constexpr (std::is_same_v<T, double>) {
      return exact_in_links();
    } else {
      return view(values_.data());
    }
  }
  /// The in-links with values in double: what certifies the result.
  [[nodiscard]] CsrView<double> exact_in_links() const { return view(exact_values_.data()); }

  [[nodiscard]] std::vector<EdgeIndex> download_row_offsets() const {
    return row_offsets_.download();
  }

  [[nodiscard]] const double* inverse_out_weight() const { return inverse_out_weight_.data(); }

 private:
  template <class Value>
  [[nodiscard]] CsrView<Value> view(const Value* values) const {
    return {node_count(), row_offsets_.data(), column_indices_.data(), values};
  }

  DeviceBuffer<EdgeIndex> row_offsets_;
  DeviceBuffer<NodeId> column_indices_;
  DeviceBuffer<double> exact_values_;
  DeviceBuffer<T> values_;
  DeviceBuffer<double> inverse_out_weight_;
};

}  // namespace pagerank::gpu
