#include "gpu/page_lock.hpp"

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

PageLock::PageLock(std::span<std::byte> memory, Need need) {
  if (memory.empty() || (need == Need::wished && refused)) return;
  const cudaError_t error = cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault);
  if (error == cudaSuccess) {
    memory_ = memory;
  } else if (need == Need::required) {
    PAGERANK_CUDA(error);
  } else {
    cudaGetLastError();  // what is not a refusal, the next call will tell, too
    refused = true;
  }
}

void PageLock::unlock() noexcept {
  cudaHostUnregister(memory_.data());
}

}  // namespace pagerank::gpu
