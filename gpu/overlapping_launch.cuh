#pragma once

#include <type_traits>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Programmatic dependent launch (CUDA Programming Guide): a kernel launched this way may begin
/// when every block of the kernel before it in the stream has called let_next_kernel_begin() or
/// ended. It reads what that kernel wrote only after wait_for_kernel_before(), and until then what
/// it needs besides. Where its code is older than compute capability 9.0 it begins when that one
/// has ended.
template <class... Parameters>
void launch_overlapping(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                        std::size_t shared_bytes, cudaStream_t stream,
                        std::type_identity_t<Parameters>... arguments) {
  cudaFuncAttributes code{};
  PAGERANK_CUDA(cudaFuncGetAttributes(&code, kernel));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = code.ptxVersion >= 90 ? 1 : 0;  // of what the code was compiled for
  PAGERANK_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}

#ifdef __CUDACC__
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Until the kernel before has ended and what it wrote is there; at once the second time.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
#endif

}  // namespace pagerank::gpu
