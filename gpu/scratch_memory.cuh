#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Device memory for work that is queued into one stream: what is given back is handed out again
/// without waiting, and goes back to the device when the last copy of this object and the last
/// buffer from it are gone. Of large blocks CUDA's own pool gives and takes several times more
/// slowly (docs/performance.md).
class ScratchMemory {
 public:
  explicit ScratchMemory(cudaStream_t stream);

  [[nodiscard]] cudaStream_t stream() const;

  /// At least so many bytes, not below 1. Throws OutOfMemory.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* block) noexcept;

  /// Bytes that can still be had: free on the device or here.
  [[nodiscard]] std::size_t available() const;

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace pagerank::gpu
