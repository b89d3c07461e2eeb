#include "gpu/device_graph.cuh"

#include <utility>

#include "gpu/cuda_handles.cuh"
#include "gpu/device_sampler.cuh"
#include "gpu/node_arrays.cuh"

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
                            const GraphMemory& memory)
    : memory_(memory),
      sampler_(std::make_unique<HostSampler>(matrix)),
      values_(std::is_same_v<T, double> ? 0 : matrix.in_links.values.size(), memory.reserved) {
  const auto uploaded = std::make_shared<DeviceTransitionMatrix>();
  matrix_ = uploaded;
  uploaded->column_indices =
      DeviceBuffer<NodeId>(matrix.in_links.column_indices.size(), reserved());
  uploaded->values = DeviceBuffer<double>(matrix.in_links.values.size(), reserved());
  uploaded->inverse_out_weight = DeviceBuffer<double>(matrix.inverse_out_weight.size(), reserved());
  uploaded->row_offsets = DeviceBuffer<EdgeIndex>(matrix.in_links.row_offsets.size(), reserved());
  uploaded->dangling = matrix.dangling.size();
  if (!matrix.dangling.empty()) uploaded->first_dangling = matrix.dangling.front();
  uploaded->distinct_links = matrix.distinct_links;
  uploaded->more_unlinked = matrix.more_unlinked;
  ring.expect(bytes(matrix));
  const EdgeIndex links = link_count();
  const bool beside = links >= stretch && NodeArraysBesideLinks::can_travel(matrix, ring);
  if (!beside) upload_node_arrays(matrix, *uploaded, ring);

  const std::span columns(matrix.in_links.column_indices);
  const std::span values(matrix.in_links.values);
  if (links < stretch || links == 0) {
    ring.copy(columns, uploaded->column_indices.data());
    ring.copy(values, uploaded->values.data());
    narrow_values(uploaded->values, values_);
    return;
  }
  arrivals_ = std::make_unique<LinkArrivals>(links, stretch);
  columns_arrived_ = std::make_unique<LinkArrivals>(links, links);
  const auto node_arrays =
      beside ? std::make_shared<NodeArraysBesideLinks>(matrix, *uploaded) : nullptr;
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  const auto upload_links = [this, &ring, uploaded, node_arrays, columns, values, links, device] {
    PAGERANK_CUDA(cudaSetDevice(device));
    const auto arrived = [this](EdgeIndex begin, EdgeIndex end) { arrivals_->arrived(begin, end); };
    const bool weighted = !values.empty();
    const TransferRing::Arrived column_arrived = weighted ? TransferRing::Arrived() : arrived;
    NodeId* const to = uploaded->column_indices.data();
    if (node_arrays) {
      node_arrays->send(ring, ring.shipment(columns, to, column_arrived));
    } else {
      ring.copy(columns, to, column_arrived);
    }
    columns_arrived_->arrived(0, links);
    if (!weighted) return;
    ring.copy(values, uploaded->values.data());
    narrow_values(uploaded->values, values_);
    arrived(0, links);
  };
  uploaded_ = std::async(std::launch::async, [this, upload_links, node_arrays] {
    try {
      upload_links();
    } catch (...) {
      arrivals_->failed(std::current_exception());
      columns_arrived_->failed(std::current_exception());
      if (node_arrays) node_arrays->failed(std::current_exception());
      throw;
    }
  });
  if (node_arrays) node_arrays->widen();
}

template <class T>
DeviceGraph<T>::DeviceGraph(std::shared_ptr<const DeviceTransitionMatrix> matrix,
                            const GraphMemory& memory)
    : memory_(memory),
      matrix_(std::move(matrix)),
      sampler_(std::make_unique<DeviceSampler>(*matrix_, exchange_memory_)),
      values_(std::is_same_v<T, double> ? 0 : matrix_->values.size(), memory.reserved) {
  narrow_values(matrix_->values, values_);
}

template class DeviceGraph<float>;
template class DeviceGraph<double>;

}  // namespace pagerank::gpu
