#pragma once

#include <cstdint>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pagerank {

/// Asks the system to back an array that nobody has touched yet with huge pages, where it is large
/// enough for that: an array that is read in order stalls at the beginning of each page, and one
/// that is read at random misses the TLB. A wish: nothing happens where it cannot be had.
template <class T>
void advise_huge_pages([[maybe_unused]] std::span<T> array) {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + array.size_bytes()) / page * page;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace pagerank
