#include "gpu/device_graph.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void spread(const NodeId* column_indices, EdgeIndex links,
                       const double* inverse_out_weight, T* values) {
  const std::uint64_t k = global_thread_index();
  if (k < links) values[k] = static_cast<T>(inverse_out_weight[column_indices[k]]);
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

}  // namespace pagerank::gpu
