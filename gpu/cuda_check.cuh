#pragma once

#include <cuda_runtime_api.h>

namespace pagerank::gpu {

/// Out of line, so that a check costs its caller a compare and a branch. Throws CudaError (or
/// OutOfMemory) naming the call and its place.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line);

}  // namespace pagerank::gpu

/// Checks a call that returns cudaError_t. Never use it in a destructor.
#define PAGERANK_CUDA(call)                                                         \
  do {                                                                              \
    const cudaError_t pagerank_error = (call);                                      \
    if (pagerank_error != cudaSuccess)                                              \
      ::pagerank::gpu::throw_cuda_error(pagerank_error, #call, __FILE__, __LINE__); \
  } while (false)

/// Checks the kernel launch just before; `kernel` is its name for the message.
#define PAGERANK_CUDA_LAUNCHED(kernel)                                                             \
  do {                                                                                             \
    const cudaError_t pagerank_error = cudaGetLastError();                                         \
    if (pagerank_error != cudaSuccess)                                                             \
      ::pagerank::gpu::throw_cuda_error(pagerank_error, "launch of " #kernel, __FILE__, __LINE__); \
  } while (false)
