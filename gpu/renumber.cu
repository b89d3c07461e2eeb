#include "gpu/renumber.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

template <class From, class To>
__global__ void gather_by(const NodeId* order, std::uint64_t nodes, const From* from, To* to) {
  const std::uint64_t i = global_thread_index();
  if (i < nodes) to[i] = static_cast<To>(from[order != nullptr ? order[i] : i]);
}

template <class T>
__global__ void scatter_by(const NodeId* order, std::uint64_t nodes, const T* from, T* to) {
  const std::uint64_t i = global_thread_index();
  if (i < nodes) to[order[i]] = from[i];
}

template <class T>
void copy(const T* from, T* to, std::uint64_t nodes, cudaStream_t stream) {
  PAGERANK_CUDA(cudaMemcpyAsync(to, from, nodes * sizeof(T), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

template <class From, class To>
void to_kernel_order(const NodeId* order, std::uint64_t nodes, const From* in_node_order, To* there,
                     cudaStream_t stream) {
  gather_by<<<blocks_for(nodes, block_size), block_size, 0, stream>>>(order, nodes, in_node_order,
                                                                      there);
  PAGERANK_CUDA_LAUNCHED(gather_by);
}

template <class T>
void to_node_order(const NodeId* order, std::uint64_t nodes, const T* there, T* in_node_order,
                   cudaStream_t stream) {
  if (order == nullptr) return copy(there, in_node_order, nodes, stream);
  scatter_by<<<blocks_for(nodes, block_size), block_size, 0, stream>>>(order, nodes, there,
                                                                       in_node_order);
  PAGERANK_CUDA_LAUNCHED(scatter_by);
}

template void to_kernel_order(const NodeId*, std::uint64_t, const float*, float*, cudaStream_t);
template void to_kernel_order(const NodeId*, std::uint64_t, const double*, double*, cudaStream_t);
template void to_kernel_order(const NodeId*, std::uint64_t, const double*, float*, cudaStream_t);
template void to_node_order(const NodeId*, std::uint64_t, const float*, float*, cudaStream_t);
template void to_node_order(const NodeId*, std::uint64_t, const double*, double*, cudaStream_t);

}  // namespace pagerank::gpu
