#include "gpu/device_graph.cuh"

#include <utility>

#include "gpu/cuda_handles.cuh"
#include "gpu/device_sampler.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void spread(const NodeId* column_indices, EdgeIndex links,
                       const double* inverse_out_weight, T* values) {
  const std::uint64_t k = global_thread_index();
  if (k < links) values[k] = static_cast<T>(inverse_out_weight[column_indices[k]]);
}

template <class T>
__global__ void narrow(const double* from, EdgeIndex count, T* to) {
  const std::uint64_t k = global_thread_index();
  if (k < count) to[k] = static_cast<T>(from[k]);
}

template <class T>
__global__ void invert(const double* inverse_out_weight, const NodeId* order, std::uint64_t nodes,
                       T* out_weight) {
  const std::uint64_t i = global_thread_index();
  if (i >= nodes) return;
  const double inverse = inverse_out_weight[order != nullptr ? order[i] : i];
  out_weight[i] = static_cast<T>(inverse > 0 ? rint(1 / inverse) : 0.0);
}

}  // namespace

template <class T>
void out_weights(const double* inverse_out_weight, const NodeId* order, std::uint64_t nodes,
                 T* out_weight, cudaStream_t stream) {
  constexpr unsigned block_size = 256;
  invert<<<blocks_for(nodes, block_size), block_size, 0, stream>>>(inverse_out_weight, order, nodes,
                                                                   out_weight);
  PAGERANK_CUDA_LAUNCHED(invert);
}

template void out_weights(const double*, const NodeId*, std::uint64_t, float*, cudaStream_t);
template void out_weights(const double*, const NodeId*, std::uint64_t, double*, cudaStream_t);

template <class T>
void spread_inverse_out_weight(const NodeId* column_indices, EdgeIndex links,
                               const double* inverse_out_weight, T* values, cudaStream_t stream) {
  if (links == 0) return;
  constexpr unsigned block_size = 256;
  spread<<<blocks_for(links, block_size), block_size, 0, stream>>>(column_indices, links,
                                                                   inverse_out_weight, values);
  PAGERANK_CUDA_LAUNCHED(spread);
}

template void spread_inverse_out_weight(const NodeId*, EdgeIndex, const double*, float*,
                                        cudaStream_t);
template void spread_inverse_out_weight(const NodeId*, EdgeIndex, const double*, double*,
                                        cudaStream_t);

template <class T>
DeviceGraph<T>::DeviceGraph(const TransitionMatrix& matrix, TransferRing& ring)
    : sampler_(std::make_unique<HostSampler>(matrix)),
      values_(std::is_same_v<T, double> ? 0 : matrix.in_links.values.size()) {
  const auto uploaded = std::make_shared<DeviceTransitionMatrix>();
  matrix_ = uploaded;
  uploaded->column_indices = DeviceBuffer<NodeId>(matrix.in_links.column_indices.size());
  uploaded->values = DeviceBuffer<double>(matrix.in_links.values.size());
  uploaded->dangling = matrix.dangling.size();
  if (!matrix.dangling.empty()) uploaded->first_dangling = matrix.dangling.front();
  uploaded->distinct_links = matrix.distinct_links;
  ring.expect(bytes(matrix));
  uploaded->inverse_out_weight = ring.upload<double>(std::span(matrix.inverse_out_weight));
  uploaded->row_offsets = ring.upload<EdgeIndex>(std::span(matrix.in_links.row_offsets));
  const std::span values(matrix.in_links.values);
  ring.copy(values, uploaded->values.data());
  if constexpr (!std::is_same_v<T, double>) ring.copy(values, values_.data());
  const std::span columns(matrix.in_links.column_indices);
  NodeId* const to = uploaded->column_indices.data();
  constexpr EdgeIndex worth_a_thread = 1 << 22, stretch = 1 << 25;
  if (link_count() < worth_a_thread) {
    ring.copy(columns, to);
    return;
  }
  arrivals_ = std::make_unique<LinkArrivals>(link_count(), stretch);
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  uploaded_ = std::async(std::launch::async, [&ring, columns, to, device, all = arrivals_.get()] {
    try {
      PAGERANK_CUDA(cudaSetDevice(device));
      ring.copy(columns, to, [all](EdgeIndex begin, EdgeIndex end) { all->arrived(begin, end); });
    } catch (...) {
      all->failed(std::current_exception());
      throw;
    }
  });
}

template <class T>
DeviceGraph<T>::DeviceGraph(std::shared_ptr<const DeviceTransitionMatrix> matrix)
    : matrix_(std::move(matrix)),
      sampler_(std::make_unique<DeviceSampler>(*matrix_)),
      values_(std::is_same_v<T, double> ? 0 : matrix_->values.size()) {
  if (values_.size() == 0) return;
  constexpr unsigned block_size = 256;
  const Stream stream;
  narrow<<<blocks_for(values_.size(), block_size), block_size, 0, stream>>>(
      matrix_->values.data(), values_.size(), values_.data());
  PAGERANK_CUDA_LAUNCHED(narrow);
  stream.wait();
}

template class DeviceGraph<float>;
template class DeviceGraph<double>;

}  // namespace pagerank::gpu
