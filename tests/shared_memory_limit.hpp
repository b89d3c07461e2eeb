#pragma once

#include <cstddef>

#include "gpu/process.hpp"

namespace pagerank::tests {

/// As long as it lives engines are made as on a GPU whose blocks have so much shared memory (0: as
/// they are).
struct SharedMemoryLimit {
  explicit SharedMemoryLimit(std::size_t bytes) { gpu::limit_shared_memory(bytes); }
  ~SharedMemoryLimit() { gpu::limit_shared_memory(0); }
  SharedMemoryLimit(const SharedMemoryLimit&) = delete;
  SharedMemoryLimit& operator=(const SharedMemoryLimit&) = delete;
};

/// A T4's, and Ada Lovelace's.
inline constexpr std::size_t smaller_shared_memories[] = {64 << 10, 99 << 10};

}  // namespace pagerank::tests
