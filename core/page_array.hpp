#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "core/array.hpp"

namespace pagerank {

/// As UndefinedInitAllocator, but what is large lies in pages of its own, which go back to the
/// system as soon as they are freed. The heap keeps those of many freed blocks of less than 32 MiB,
/// for the program to use again: no help where the next thing that it asks for is larger.
template <class T>
class PageAllocator : public UndefinedInitAllocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = PageAllocator<U>;
  };

  PageAllocator() = default;
  template <class U>  // implicit, as the standard's allocators have it
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT(google-explicit-*)

  [[nodiscard]] T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < large) return UndefinedInitAllocator<T>::allocate(n);
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }

  void deallocate(T* place, std::size_t n) noexcept {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < large) return UndefinedInitAllocator<T>::deallocate(place, n);
    // A process may have too many separate mappings to make a hole in one: its memory can go.
    if (munmap(place, bytes) != 0) (void)madvise(place, bytes, MADV_DONTNEED);
  }

 private:
  static constexpr std::size_t large = std::size_t{1} << 16;
};

/// An Array for pieces of something large that are freed one by one.
template <class T>
using PageArray = std::vector<T, PageAllocator<T>>;

}  // namespace pagerank
