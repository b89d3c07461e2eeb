#include "gpu/block_sums.cuh"

namespace pagerank::gpu {
namespace {

__global__ void add_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total) {
  const NodeSums sum = sum_of_blocks(block_sums, blocks);
  if (threadIdx.x == 0) *total = sum;
}

}  // namespace

void add_block_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total,
                    cudaStream_t stream) {
  add_sums<<<1, sum_block_size, 0, stream>>>(block_sums, blocks, total);
  PAGERANK_CUDA_LAUNCHED(add_sums);
}

}  // namespace pagerank::gpu
