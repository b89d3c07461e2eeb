#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "gpu/entry_source.hpp"

namespace pagerank::gpu {

/// What a ring for a text is made of.
struct RingShape {
  int readers;
  std::size_t buffers;
};
/// Readers for all of so many threads (0: as many as OpenMP offers) but two: who hands chunks to
/// the device needs a core, and the system one. Buffers of so many bytes as the entries that are
/// expected may need, up to as many as keep the bus busy: a ring takes milliseconds to be
/// page-locked.
[[nodiscard]] RingShape ring_shape(const EntryTextShape& text, std::size_t buffer_bytes,
                                   int threads);

/// Blocks of text, read by several threads into a ring of buffers and taken in their order. Reading
/// begins with the constructor and goes on as long as there are free buffers.
class TextRing {
 public:
  /// The source outlives the ring.
  TextRing(EntrySource& source, int readers, std::size_t buffers);
  TextRing(EntrySource& source, const RingShape& shape)
      : TextRing(source, shape.readers, shape.buffers) {}
  ~TextRing();
  TextRing(const TextRing&) = delete;
  TextRing& operator=(const TextRing&) = delete;

  /// All buffers, whole pages.
  [[nodiscard]] std::span<std::byte> memory() const { return {memory_, bytes_}; }

  /// A buffer's bytes behind the block's text, at least: there to be written and read. What comes
  /// behind that is the next buffer.
  static constexpr std::size_t padding = 128;

  /// Waits for the next block. Nothing after the last. Throws what EntrySource::next() threw, which
  /// ends all reading.
  [[nodiscard]] std::optional<TextBlock> take();
  /// Whether take() need not wait.
  [[nodiscard]] bool ready();

  /// The oldest so many blocks that were taken are no longer needed.
  void release(std::size_t blocks);

 private:
  [[nodiscard]] bool has_buffer(std::size_t index) const {
    return index < released_ + blocks_.size();
  }
  [[nodiscard]] std::span<char> wait_for_buffer(std::size_t index);
  void read_blocks();

  EntrySource& source_;
  std::size_t stride_;
  std::size_t bytes_;
  std::byte* memory_;
  std::mutex mutex_;  ///< Guards what follows.
  std::condition_variable changed_;
  std::vector<std::optional<TextBlock>> blocks_;  ///< That are read, one a buffer.
  std::size_t next_ = 0;                          ///< To be taken.
  std::size_t released_ = 0;                      ///< Blocks before this one are.
  int reading_;                                   ///< Threads that may find more blocks.
  std::exception_ptr failure_;                    ///< Of a thread; its block is missing.
  bool stopped_ = false;
  std::vector<std::jthread> readers_;
};

}  // namespace pagerank::gpu
