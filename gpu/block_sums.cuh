#pragma once

#include "gpu/device_buffer.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// What one pass over the nodes adds up on the device.
struct NodeSums {
  double change;         ///< ||x_k - x_(k-1)||_1, or the residual ||G(x) - x||_1
  double dangling_mass;  ///< of x_k
};

/// Reductions over nodes run in two steps without atomics: a fixed number of blocks, whatever the
/// device, each leave one NodeSums, and add_block_sums() adds those in a fixed order.
inline constexpr unsigned sum_block_size = 256;
inline constexpr unsigned most_sum_blocks = 1024;

#ifdef __CUDACC__
/// The sum of block_sums[0 .. blocks), in thread 0; for a block of sum_block_size threads.
[[nodiscard]] __device__ inline NodeSums sum_of_blocks(const NodeSums* block_sums,
                                                       unsigned blocks) {
  double change = 0, dangling_mass = 0;
  for (unsigned block = threadIdx.x; block < blocks; block += sum_block_size) {
    change += block_sums[block].change;
    dangling_mass += block_sums[block].dangling_mass;
  }
  change = block_sum<sum_block_size>(change);
  dangling_mass = block_sum<sum_block_size>(dangling_mass);
  return {change, dangling_mass};
}
#endif

/// *total = sum of block_sums[0 .. blocks).
void add_block_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total,
                    cudaStream_t stream);

}  // namespace pagerank::gpu
