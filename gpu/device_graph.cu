#include "gpu/device_graph.cuh"

#include <bit>
#include <limits>
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

/// The out-weights, which are whole (see TransitionMatrix), of their inverse: in the low bits of
/// what is rounded to a whole number by adding 2^52, and so is nothing of infinity.
void whole_out_weights(std::span<const double> inverse, std::uint32_t* out_weight) {
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    out_weight[i] =
        static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(1 / inverse[i] + 0x1p52));
  }
}

__global__ void widen_offsets(const std::uint32_t* from, std::uint64_t count, EdgeIndex* to) {
  const std::uint64_t i = global_thread_index();
  if (i < count) to[i] = from[i];
}

__global__ void invert_whole(const std::uint32_t* out_weight, std::uint64_t count,
                             double* inverse) {
  const std::uint64_t i = global_thread_index();
  if (i < count) inverse[i] = out_weight[i] == 0 ? 0.0 : 1 / static_cast<double>(out_weight[i]);
}

/// Uploads what a graph has of each node, 32 bits a number where they suffice: the device makes of
/// them what the host has, bit for bit. They arrive in the place of the links, which come later.
void upload_node_arrays(const TransitionMatrix& matrix, DeviceTransitionMatrix& uploaded,
                        TransferRing& ring) {
  const std::span inverse(matrix.inverse_out_weight);
  const std::span offsets(matrix.in_links.row_offsets);
  const EdgeIndex links = matrix.link_count();
  if (links < offsets.size() || links > std::numeric_limits<std::uint32_t>::max()) {
    ring.copy(inverse, uploaded.inverse_out_weight.data());
    ring.copy(offsets, uploaded.row_offsets.data());
    return;
  }
  static_assert(sizeof(NodeId) == sizeof(std::uint32_t));
  std::uint32_t* const narrow = uploaded.column_indices.data();
  constexpr unsigned block_size = 256;
  const Stream stream;
  ring.copy(inverse, narrow, {}, whole_out_weights);
  invert_whole<<<blocks_for(inverse.size(), block_size), block_size, 0, stream>>>(
      narrow, inverse.size(), uploaded.inverse_out_weight.data());
  PAGERANK_CUDA_LAUNCHED(invert_whole);
  stream.wait();
  ring.copy(offsets, narrow);
  widen_offsets<<<blocks_for(offsets.size(), block_size), block_size, 0, stream>>>(
      narrow, offsets.size(), uploaded.row_offsets.data());
  PAGERANK_CUDA_LAUNCHED(widen_offsets);
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
  ring.expect(bytes(matrix));
  upload_node_arrays(matrix, *uploaded, ring);

  const EdgeIndex links = link_count();
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
