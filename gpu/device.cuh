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
/// is less. `name` is what the message calls the device.
void require_device_memory(const std::string& name, std::size_t needed, std::size_t limit = 0);

/// Bytes of the current device that may be taken: what is free, and no more than `limit` (0: none).
[[nodiscard]] std::size_t available_device_memory(std::size_t limit);

/// Bytes a second of the current device's memory by its clock and width; 0: it does not tell.
[[nodiscard]] double memory_bandwidth();

}  // namespace pagerank::gpu
