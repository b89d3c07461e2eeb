#pragma once

#include <cstddef>
#include <string>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Makes the device the calling thread's and creates its context, if there is none. Returns its
/// name. Throws NoDevice where the device is not there, cannot be entered (another process holds
/// it, say), or is one that this program was not built for.
std::string enter_device(int device);

/// Bytes of the current device for one purpose, which holds some of them: those and what is free,
/// and no more than `limit` (0: none).
[[nodiscard]] std::size_t available_device_memory(std::size_t limit, std::size_t held = 0);

/// Throws OutOfMemory if the current device has less than `needed` bytes free. `name` is what the
/// message calls the device.
void require_device_memory(const std::string& name, std::size_t needed);

/// Bytes a second of the current device's memory by its clock and width; 0: it does not tell.
[[nodiscard]] double memory_bandwidth();

}  // namespace pagerank::gpu
