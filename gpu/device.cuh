#pragma once

#include <cstddef>
#include <string>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Makes the device the calling thread's and creates its context, if there is none. Returns its
/// name. Throws NoDevice where the device is not there, cannot be entered (another process holds
/// it, say), or is one that this program was not built for.
std::string enter_device(int device);

/// Throws OutOfMemory if the current device has less than `needed` bytes free, or `limit` (0: none)
/// is less. Of these `held` are taken already. `name` is what the message calls the device.
void require_device_memory(const std::string& name, std::size_t needed, std::size_t limit = 0,
                           std::size_t held = 0);

}  // namespace pagerank::gpu
