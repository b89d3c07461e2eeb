#pragma once

#include <cstddef>
#include <string>

#include "gpu/cuda_check.cuh"
#include "gpu/device_traits.hpp"

namespace pagerank::gpu {

/// Makes the device the calling thread's and creates its context, if there is none. Returns its
/// name. Throws NoDevice where the device is not there, cannot be entered (another process holds
/// it, say), or is one that this program was not built for.
std::string enter_device(int device);

/// The memory of the current device, as far as one user may take it.
struct DeviceMemory {
  std::string device;     ///< What messages call it.
  std::size_t limit = 0;  ///< Bytes that may be taken in all; 0: as many as are free.

  /// Bytes in all for one who holds so many already.
  [[nodiscard]] std::size_t available(std::size_t held = 0) const;
  /// What held_device_bytes may become by one who has so many of them already.
  [[nodiscard]] std::size_t most_held(std::size_t held = 0) const;
  /// Throws OutOfMemory where `needed` bytes in all, of which so many are held, cannot be had.
  void require(std::size_t needed, std::size_t held = 0) const;
};

/// Of the current device; an H100's bandwidth where it does not tell, and no more shared memory
/// than limit_shared_memory() leaves.
[[nodiscard]] DeviceTraits device_traits();

}  // namespace pagerank::gpu
