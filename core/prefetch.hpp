#pragma once

#include <cstddef>

namespace pagerank {

/// For what is read in order: the hardware's own prefetching stops at the end of each page.
template <class T>
void prefetch_ahead(const T* stream) {
  constexpr std::size_t bytes = 2048;
  __builtin_prefetch(reinterpret_cast<const char*>(stream) + bytes);
}

/// For one of many places that are written in order in turns, more than the hardware keeps track
/// of: a processor owns a line before it writes to it.
template <class T>
void prefetch_for_writing(T* stream) {
  constexpr std::size_t bytes = 128;
  __builtin_prefetch(reinterpret_cast<char*>(stream) + bytes, 1);
}

}  // namespace pagerank
