#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/array.hpp"
#include "core/huge_pages.hpp"

namespace pagerank {

/// Memory that holds numbers of one type now and of another later. Begins at a cache line.
class ScratchMemory {
 public:
  /// At least `bytes`, undefined; what lay here before is lost if it grows.
  void reserve(std::size_t bytes) {
    if (bytes <= size()) return;
    memory_ = {};  // before the new one is there
    memory_.resize(bytes + line);
    advise_huge_pages(std::span(memory_));
  }
  [[nodiscard]] std::size_t size() const { return memory_.empty() ? 0 : memory_.size() - line; }

  /// As an array of T. Elements are undefined until they are written as T.
  template <class T>
  [[nodiscard]] T* as() {
    const std::size_t over = reinterpret_cast<std::uintptr_t>(memory_.data()) % line;
    return reinterpret_cast<T*>(memory_.data() + (line - over) % line);
  }

 private:
  static constexpr std::size_t line = 64;
  Array<std::byte> memory_;
};

}  // namespace pagerank
