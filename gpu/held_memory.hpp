#pragma once

#include <atomic>
#include <cstddef>

namespace pagerank::gpu {

/// Bytes of device memory that this process holds, on all devices: what DeviceBuffer and
/// ScratchMemory have taken and not given back. ScratchMemory's limit counts them, not what the
/// device has left, which others take of as well.
inline std::atomic<std::size_t> held_device_bytes = 0;

}  // namespace pagerank::gpu
