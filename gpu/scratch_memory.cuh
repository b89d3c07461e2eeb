#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Device memory for work that is queued into one stream: what is given back is handed out again
/// without waiting, and goes back to the device when the last copy of this object and the last
/// buffer from it are gone. Also for many arrays that come and go together. cudaMalloc() takes a
/// tenth of a millisecond for anything, and CUDA's own pool several times longer than that for
/// large blocks (docs/performance.md).
class ScratchMemory {
 public:
  /// With so many bytes to begin with; takes no more than what leaves held_device_bytes at
  /// `most_held`. Throws OutOfMemory.
  explicit ScratchMemory(cudaStream_t stream, std::size_t bytes = 0,
                         std::size_t most_held = unlimited);
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] cudaStream_t stream() const;

  /// Where pieces begin: what textures want, which ask for most.
  static constexpr std::size_t alignment = 512;
  /// What a piece of so many bytes takes.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  /// So many bytes, not below 1. Throws OutOfMemory.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* data) noexcept;

  /// Bytes that can still be had: on the device, within the limit, or here.
  [[nodiscard]] std::size_t available() const;

 private:
  struct Pieces;
  std::shared_ptr<Pieces> pieces_;
};

}  // namespace pagerank::gpu
