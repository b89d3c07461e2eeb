#pragma once

namespace pagerank::gpu {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned full_warp = 0xffffffffU;

/// The sum of `value` over the 32 lanes of a full warp, in lane 0 (other lanes: partial sums).
/// Each step halves the distance between the lanes that are added:
///   lane 0 gets 0+16, then +8 (and 24), +4, +2, +1; the order is fixed, so are the bits.
__device__ inline double warp_sum(double value) {
  for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(full_warp, value, offset);
  }
  return value;
}

/// The bits set in any of the 32 lanes of a full warp, their largest number, and their sum, in all
/// lanes.
__device__ inline unsigned warp_or(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(full_warp, value);
#else
  for (int lanes = 1; lanes < 32; lanes *= 2) value |= __shfl_xor_sync(full_warp, value, lanes);
  return value;
#endif
}
__device__ inline unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(full_warp, value);
#else
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    value = max(value, __shfl_xor_sync(full_warp, value, lanes));
  }
  return value;
#endif
}

__device__ inline unsigned warp_sum_of(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, value);
#else
  for (int lanes = 1; lanes < 32; lanes *= 2) value += __shfl_xor_sync(full_warp, value, lanes);
  return value;
#endif
}

/// The values of this lane and those before it, added up. For a whole warp.
__device__ inline unsigned sum_through_lane(unsigned value, unsigned lane) {
  for (unsigned offset = 1; offset < warp_size; offset *= 2) {
    const unsigned other = __shfl_up_sync(full_warp, value, offset);
    if (lane >= offset) value += other;
  }
  return value;
}

/// The sum over all threads of a block of `block_size` threads (a multiple of 32, at most 1024), in
/// thread 0: every warp adds by shuffles, the first warp adds the warps' sums. All threads of the
/// block call it; it may be called again at once.
template <unsigned block_size>
__device__ double block_sum(double value) {
  constexpr unsigned warps = block_size / warp_size;
  static_assert(block_size % warp_size == 0 && warps <= warp_size);
  __shared__ double warp_sums[warps];
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned warp = threadIdx.x / warp_size;
  value = warp_sum(value);
  if (lane == 0) warp_sums[warp] = value;
  __syncwarp();  // lanes may have come by different ways: reach the barrier as a warp
  __syncthreads();
  if (warp == 0) value = warp_sum(lane < warps ? warp_sums[lane] : 0.0);
  __syncthreads();  // warp_sums is free again
  return value;
}

}  // namespace pagerank::gpu
