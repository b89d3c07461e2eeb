#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace pagerank {

/// std::allocator, but elements that are constructed from nothing stay undefined.
template <class T>
class UndefinedInitAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UndefinedInitAllocator<U>;
  };

  UndefinedInitAllocator() = default;
  template <class U>  // implicit, as the standard's allocators have it
  UndefinedInitAllocator(const UndefinedInitAllocator<U>&) noexcept {}  // NOLINT(google-explicit-*)

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

/// A std::vector of numbers whose resize() leaves new elements undefined, so that the threads that
/// fill a large array are the first to touch its memory: one thread clearing it, page fault by page
/// fault, takes longer than all of them filling it.
template <class T>
using Array = std::vector<T, UndefinedInitAllocator<T>>;

/// Frees a std::vector's elements and their memory, which `vector = {}` would keep: that assigns a
/// list of no elements.
template <class Vector>
void free_memory(Vector& vector) {
  Vector().swap(vector);
}

}  // namespace pagerank
