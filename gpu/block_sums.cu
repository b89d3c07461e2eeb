#include "gpu/block_sums.cuh"

namespace pagerank::gpu {
namespace {

__global__ void add_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total) {
  double change = 0, dangling_mass = 0;
  for (unsigned block = threadIdx.x; block < blocks; block += sum_block_size) {
    change += block_sums[block].change;
    dangling_mass += block_sums[block].dangling_mass;
  }
  change = block_sum<sum_block_size>(change);
  dangling_mass = block_sum<sum_block_size>(dangling_mass);
  if (threadIdx.x == 0) *total = {change, dangling_mass};
}

}  // namespace

void add_block_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total,
                    cudaStream_t stream) {
  add_sums<<<1, sum_block_size, 0, stream>>>(block_sums, blocks, total);
  PAGERANK_CUDA_LAUNCHED(add_sums);
}

}  // namespace pagerank::gpu
