#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

namespace pagerank::gpu {

/// Out of line, so that a check costs its caller a compare and a branch. Throws CudaError (or
/// OutOfMemory) naming the call and its place.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line);
[[noreturn]] void throw_cusparse_error(cusparseStatus_t status, const char* call, const char* file,
                                       int line);

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

/// Checks a call that returns cusparseStatus_t.
#define PAGERANK_CUSPARSE(call)                                                          \
  do {                                                                                   \
    const cusparseStatus_t pagerank_status = (call);                                     \
    if (pagerank_status != CUSPARSE_STATUS_SUCCESS)                                      \
      ::pagerank::gpu::throw_cusparse_error(pagerank_status, #call, __FILE__, __LINE__); \
  } while (false)
