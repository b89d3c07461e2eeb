#pragma once

#include "core/types.hpp"

namespace pagerank::gpu {

/// A CSR matrix in device memory, as kernels see it: trivially copyable, owns nothing.
template <class T>
struct CsrView {
  std::uint64_t rows;
  EdgeIndex links;
  const EdgeIndex* row_offsets;  ///< rows + 1
  const NodeId* column_indices;
  const T* values;  ///< Null: every element is 1.

  /// What y = A x moves at least: each array of the matrix, x and y once.
  [[nodiscard]] std::uint64_t bytes_to_multiply() const {
    return (rows + 1) * sizeof(EdgeIndex) +
           links * (sizeof(NodeId) + (values != nullptr ? sizeof(T) : 0)) + 2 * rows * sizeof(T);
  }

#ifdef __CUDACC__
  /// Element k times the x it meets. `values` is the same for all threads: no divergence.
  [[nodiscard]] __device__ T product(EdgeIndex k, const T* x) const {
    const T gathered = x[column_indices[k]];
    return values != nullptr ? values[k] * gathered : gathered;
  }
#endif
};

#ifdef __CUDACC__
/// The thread's place in the whole grid, in 64 bits: a warp a row passes 2^32 at 2^27 rows.
[[nodiscard]] __device__ inline std::uint64_t global_thread_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
#endif

/// Blocks of `block_size` threads that give each of `threads` work items a thread.
[[nodiscard]] inline unsigned blocks_for(std::uint64_t threads, unsigned block_size) {
  return static_cast<unsigned>((threads + block_size - 1) / block_size);
}

}  // namespace pagerank::gpu
