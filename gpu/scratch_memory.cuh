#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Whether so many bytes are so little of what can still be had within that limit (see
/// ScratchMemory) that they may be taken before they are needed, and kept when they no longer are.
[[nodiscard]] bool is_little(std::size_t bytes, std::size_t most_held);

/// cudaMalloc(), which tests can have fail.
[[nodiscard]] cudaError_t allocate(void** data, std::size_t bytes);

/// Device memory for work that is queued into one stream, or into several that wait for each other
/// before one takes what another has given back: what is given back is handed out again
/// without waiting, and goes back to the device when the last copy of this object and the last
/// buffer from it are gone. Also for many arrays that come and go together. cudaMalloc() takes a
/// tenth of a millisecond for anything, and CUDA's own pool several times longer than that for
/// large blocks (docs/notebook/gpu.md).
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

  /// Takes so many more bytes from the device, in one piece. Throws OutOfMemory.
  void reserve(std::size_t bytes);

  /// So many bytes, not below 1. Throws OutOfMemory.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* data) noexcept;

  /// Gives back what was taken from the device in one piece and is not in use; waits for what has
  /// used it.
  void give_back() noexcept;

  /// Bytes that can still be had: on the device, within the limit, or here.
  [[nodiscard]] std::size_t available() const;

 private:
  struct Pieces;
  std::shared_ptr<Pieces> pieces_;
};

/// What a graph, and who prepares a kernel for it, may take of the device.
struct GraphMemory {
  std::size_t most_held = ScratchMemory::unlimited;  ///< What held_device_bytes may become.
  /// For what is known to be needed, in one piece; unset: each array comes from the device.
  std::optional<ScratchMemory> reserved = {};
};

}  // namespace pagerank::gpu
