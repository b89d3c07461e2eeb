#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/array.hpp"
#include "core/huge_pages.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Memory that holds numbers of one type now and of another later. Begins at a cache line.
class ScratchMemory {
 public:
  /// Bytes of a cache line, where the memory begins: as many of what it was given may be lost.
  static constexpr std::size_t line = 64;

  ScratchMemory() = default;
  /// Uses the memory of numbers that nobody needs any more.
  explicit ScratchMemory(Array<NodeId> memory) : memory_(std::move(memory)) {}

  /// At least `bytes`, undefined; what lay here before is lost if it grows.
  void reserve(std::size_t bytes) {
    if (bytes <= size()) return;
    free_memory(memory_);  // before the new one is there
    memory_.resize((bytes + line + sizeof(NodeId) - 1) / sizeof(NodeId));
    advise_huge_pages(std::span(memory_));
  }
  /// At most `bytes`, about: what lies behind them is lost, and its memory the system's again.
  void shrink(std::size_t bytes) {
    const std::size_t elements = (bytes + line + sizeof(NodeId) - 1) / sizeof(NodeId);
    if (elements >= memory_.size()) return;
    give_back_pages(std::span(memory_).subspan(elements));
    memory_.resize(elements);
  }
  [[nodiscard]] std::size_t size() const {
    const std::size_t bytes = memory_.size() * sizeof(NodeId);
    return bytes < line ? 0 : bytes - line;
  }

  /// As an array of T. Elements are undefined until they are written as T.
  template <class T>
  [[nodiscard]] T* as() {
    const std::size_t over = reinterpret_cast<std::uintptr_t>(memory_.data()) % line;
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(memory_.data()) +
                                (line - over) % line);
  }

 private:
  Array<NodeId> memory_;
};

}  // namespace pagerank
