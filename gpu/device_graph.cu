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

/// to = from, if it has room; done when this returns.
template <class T>
void narrow_values(const DeviceBuffer<double>& from, DeviceBuffer<T>& to) {
  if (to.size() == 0) return;
  constexpr unsigned block_size = 256;
  const Stream stream;
  narrow<<<blocks_for(to.size(), block_size), block_size, 0, stream>>>(from.data(), to.size(),
                                                                       to.data());
  PAGERANK_CUDA_LAUNCHED(narrow);
  stream.wait();
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
DeviceGraph<T>::DeviceGraph(const TransitionMatrix& matrix, TransferRing& ring, EdgeIndex stretch,
                            std::size_t most_held)
    : most_held_(most_held),
      sampler_(std::make_unique<HostSampler>(matrix)),
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

  const EdgeIndex links = link_count();
  const std::span columns(matrix.in_links.column_indices);
  const std::span values(matrix.in_links.values);
  if (links < stretch / 8 || links == 0) {
    ring.copy(columns, uploaded->column_indices.data());
    ring.copy(values, uploaded->values.data());
    narrow_values(uploaded->values, values_);
    return;
  }
  arrivals_ = std::make_unique<LinkArrivals>(links, stretch);
  columns_arrived_ = std::make_unique<LinkArrivals>(links, links);
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  const auto upload_links = [this, &ring, uploaded, columns, values, links, device] {
    PAGERANK_CUDA(cudaSetDevice(device));
    const auto arrived = [this](EdgeIndex begin, EdgeIndex end) { arrivals_->arrived(begin, end); };
    const bool weighted = !values.empty();
    ring.copy(columns, uploaded->column_indices.data(),
              weighted ? TransferRing::Arrived() : TransferRing::Arrived(arrived));
    columns_arrived_->arrived(0, links);
    if (!weighted) return;
    ring.copy(values, uploaded->values.data());
    narrow_values(uploaded->values, values_);
    arrived(0, links);
  };
  uploaded_ = std::async(std::launch::async, [this, upload_links] {
    try {
      upload_links();
    } catch (...) {
      arrivals_->failed(std::current_exception());
      columns_arrived_->failed(std::current_exception());
      throw;
    }
  });
}

template <class T>
DeviceGraph<T>::DeviceGraph(std::shared_ptr<const DeviceTransitionMatrix> matrix,
                            std::size_t most_held)
    : most_held_(most_held),
      matrix_(std::move(matrix)),
      sampler_(std::make_unique<DeviceSampler>(*matrix_)),
      values_(std::is_same_v<T, double> ? 0 : matrix_->values.size()) {
  narrow_values(matrix_->values, values_);
}

template class DeviceGraph<float>;
template class DeviceGraph<double>;

}  // namespace pagerank::gpu
