#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

namespace pagerank::gpu {

/// Page-locks memory of the host for as long as it lives: copies between such memory and the device
/// run at the bus's speed and beside what else the caller does.
class PageLock {
 public:
  /// Ordinary memory is copied as well, at some times less speed, and the caller waits: what is
  /// only wished for stays ordinary where the system has no more pages to lock.
  enum class Need { required, wished };

  PageLock() = default;
  /// `memory` outlives the lock. Throws CudaError or OutOfMemory for what is required.
  PageLock(std::span<std::byte> memory, Need need);
  PageLock(PageLock&& other) noexcept { swap(other); }
  PageLock& operator=(PageLock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PageLock() {
    if (locked()) unlock();
  }

  [[nodiscard]] bool locked() const { return !memory_.empty(); }

  /// A wish was refused, and no other is tried in this process, for each try takes time. Tests set
  /// it, too.
  static inline std::atomic<bool> refused = false;

 private:
  void unlock() noexcept;
  void swap(PageLock& other) noexcept { std::swap(memory_, other.memory_); }

  std::span<std::byte> memory_;  ///< Empty: nothing is locked.
};

}  // namespace pagerank::gpu
