#pragma once

#include "gpu/device_buffer.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// What one pass over the nodes adds up on the device.
struct NodeSums {
  double change;         ///< ||x_k - x_(k-1)||_1, or the residual ||G(x) - x||_1
  double dangling_mass;  ///< of x_k
};

/// Reductions over nodes run in two steps without atomics: blocks each leave one NodeSums, and
/// add_block_sums() adds those in a fixed order. A pass that does nothing else has a fixed number
/// of blocks, whatever the device.
inline constexpr unsigned sum_block_size = 256;
inline constexpr unsigned most_sum_blocks = 1024;

#ifdef __CUDACC__
/// The sums of a block's threads, in thread 0; see block_sum().
template <unsigned block_size>
[[nodiscard]] __device__ NodeSums block_sums_of(const NodeSums& sums) {
  return {block_sum<block_size>(sums.change), block_sum<block_size>(sums.dangling_mass)};
}

/// The sum of block_sums[0 .. blocks), in thread 0; for a block of sum_block_size threads.
[[nodiscard]] __device__ inline NodeSums sum_of_blocks(const NodeSums* block_sums,
                                                       unsigned blocks) {
  NodeSums sums{0, 0};
#pragma unroll 4
  for (unsigned block = threadIdx.x; block < blocks; block += sum_block_size) {
    sums.change += __ldcg(&block_sums[block].change);  // other blocks may just have written them
    sums.dangling_mass += __ldcg(&block_sums[block].dangling_mass);
  }
  return block_sums_of<sum_block_size>(sums);
}
#endif

/// *total = sum of block_sums[0 .. blocks).
void add_block_sums(const NodeSums* block_sums, unsigned blocks, NodeSums* total,
                    cudaStream_t stream);

}  // namespace pagerank::gpu
