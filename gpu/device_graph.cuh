#pragma once

#include <future>
#include <type_traits>

#include "core/transition_matrix.hpp"
#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"
#include "gpu/transfer_ring.cuh"

namespace pagerank::gpu {

/// values[k] = inverse_out_weight[column_indices[k]]: the elements of B that an unweighted graph
/// does without.
template <class T>
void spread_inverse_out_weight(const NodeId* column_indices, EdgeIndex links,
                               const double* inverse_out_weight, T* values, cudaStream_t stream);

/// out_weight[i] = 1 / inverse_out_weight[order[i]], 0 where that is 0 (order null: of node i).
template <class T>
void out_weights(const double* inverse_out_weight, const NodeId* order, std::uint64_t nodes,
                 T* out_weight, cudaStream_t stream);

/// A transition matrix in device memory, as TransitionMatrix describes it, its values in T.
/// Kernels take it as it is or make a layout of their own from it. The links of a large graph
/// arrive while others already work with the rest: what needs them waits for them.
template <class T>
class DeviceGraph {
 public:
  /// `matrix` and `ring` are used until someone has asked for the links.
  DeviceGraph(const TransitionMatrix& matrix, TransferRing& ring);
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// What the constructor will allocate.
  [[nodiscard]] static std::size_t bytes(const TransitionMatrix& matrix) {
    const std::size_t value_bytes = sizeof(double) + (std::is_same_v<T, double> ? 0 : sizeof(T));
    return (std::size_t{matrix.node_count()} + 1) * sizeof(EdgeIndex) +
           matrix.link_count() * (sizeof(NodeId) + (matrix.weighted() ? value_bytes : 0)) +
           matrix.node_count() * sizeof(double);
  }

  [[nodiscard]] std::uint64_t node_count() const { return inverse_out_weight_.size(); }
  [[nodiscard]] EdgeIndex link_count() const { return column_indices_.size(); }

  /// Whether in_links() has values.
  [[nodiscard]] bool has_values() const {
    return (std::is_same_v<T, double> ? exact_values_.size() : values_.size()) > 0;
  }

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

  /// Gives an unweighted graph the values array that it does without: what in_links() then
  /// multiplies is B itself. For benchmarks of kernels that read values.
  void store_values(cudaStream_t stream) {
    links_arrived_.get();
    DeviceBuffer<T> values(link_count());
    spread_inverse_out_weight(column_indices_.data(), link_count(), inverse_out_weight_.data(),
                              values.data(), stream);
    if constexpr (std::is_same_v<T, double>) {
      exact_values_ = std::move(values);
    } else {
      values_ = std::move(values);
    }
  }

  [[nodiscard]] std::vector<EdgeIndex> download_row_offsets() const {
    return row_offsets_.download();
  }

  [[nodiscard]] const EdgeIndex* row_offsets() const { return row_offsets_.data(); }
  [[nodiscard]] const double* inverse_out_weight() const { return inverse_out_weight_.data(); }

 private:
  template <class Value>
  [[nodiscard]] CsrView<Value> view(const Value* values) const {
    links_arrived_.get();
    return {node_count(), link_count(), row_offsets_.data(), column_indices_.data(), values};
  }

  DeviceBuffer<double> inverse_out_weight_;
  DeviceBuffer<EdgeIndex> row_offsets_;
  DeviceBuffer<NodeId> column_indices_;
  DeviceBuffer<double> exact_values_;
  DeviceBuffer<T> values_;  ///< Where T is not double.
  std::shared_future<void> links_arrived_;
};

extern template class DeviceGraph<float>;
extern template class DeviceGraph<double>;

}  // namespace pagerank::gpu
