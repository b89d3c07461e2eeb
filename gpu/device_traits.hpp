#pragma once

#include <cstddef>
#include <cstdint>

namespace pagerank::gpu {

/// What a multiprocessor has for the blocks on it, in bytes; an H100's (CUDA Programming Guide,
/// technical specifications per compute capability).
struct SharedMemory {
  std::size_t most_of_block = 227 << 10;  ///< That asks for it.
  std::size_t of_multiprocessor = 228 << 10;
  std::size_t taken_of_block = 1 << 10;  ///< By the system, of what the multiprocessor has.
  std::uint32_t threads = 2048;          ///< On a multiprocessor, at most.

  /// As if a block could have no more than `most` (0: no limit), and a multiprocessor had as much
  /// for all of its blocks.
  [[nodiscard]] constexpr SharedMemory within(std::size_t most) const {
    SharedMemory less = *this;
    if (most == 0 || most >= most_of_block) return less;
    less.most_of_block = most;
    less.of_multiprocessor = most + taken_of_block;
    return less;
  }
};

/// Bytes a second of an H100's memory, by its clock and width.
inline constexpr double h100_memory_bandwidth = 3.35e12;

/// What choosing and laying out a kernel's matrix asks of a device; an H100's.
struct DeviceTraits {
  double memory_bandwidth = h100_memory_bandwidth;  ///< Bytes a second, by clock and width.
  SharedMemory shared_memory;
};

}  // namespace pagerank::gpu
