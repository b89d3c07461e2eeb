#include "gpu/device_graph.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void spread(const NodeId* column_indices, EdgeIndex links,
                       const double* inverse_out_weight, T* values) {
  const std::uint64_t k = global_thread_index();
  if (k < links) values[k] = static_cast<T>(inverse_out_weight[column_indices[k]]);
}

}  // namespace

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
