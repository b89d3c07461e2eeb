#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace pagerank {

/// Asks the system to back an array that nobody has touched yet with huge pages, where it is large
/// enough for that: an array that is read in order stalls at the beginning of each page, and one
/// that is read at random misses the TLB. A wish: nothing happens where it cannot be had.
template <class T>
void advise_huge_pages([[maybe_unused]] std::span<T> array) {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(array.data()) % page;
  const std::size_t skipped = offset == 0 ? 0 : page - offset;  // up to the first whole one
  if (array.size_bytes() < skipped + page) return;
  void* const first = reinterpret_cast<char*>(array.data()) + skipped;
  (void)madvise(first, (array.size_bytes() - skipped) / page * page, MADV_HUGEPAGE);
#endif
}

/// Lets the system have the memory of whole pages of an array back. Its elements are undefined
/// then.
template <class T>
void give_back_pages([[maybe_unused]] std::span<T> array) {
#if defined(__linux__)
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(array.data()) % page;
  const std::size_t skipped = offset == 0 ? 0 : page - offset;
  if (array.size_bytes() < skipped + page) return;
  void* const first = reinterpret_cast<char*>(array.data()) + skipped;
  (void)madvise(first, (array.size_bytes() - skipped) / page * page, MADV_DONTNEED);
#endif
}

}  // namespace pagerank
