#include "gpu/text_ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/threads.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

/// Nobody wants the block any more.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("reading was stopped") {}
};

}  // namespace

RingShape ring_shape(const EntryTextShape& text, std::size_t buffer_bytes, int threads) {
  // Enough buffers for what travels, what is parsed, and one for each reader. Of 32 to 80 the bus
  // was busiest with `most`.
  constexpr std::uint64_t fewest = 4, most = 64, if_unknown = 16;
  constexpr std::uint64_t longest_usual_line = 64;
  const int readers = std::max(1, thread_count(threads) - 2);
  if (text.expected_entries == 0 && !text.declares_entries()) return {readers, if_unknown};
  const std::uint64_t lines_of_buffer =
      std::max<std::uint64_t>(1, buffer_bytes / longest_usual_line);
  return {readers,
          std::clamp<std::uint64_t>(text.expected_entries / lines_of_buffer, fewest, most)};
}

TextRing::TextRing(EntrySource& source, int readers, std::size_t buffers)
    : source_(source),
      stride_(rounded(source.buffer_bytes() + padding, padding)),
      bytes_(rounded(stride_ * buffers, huge_page)),
      blocks_(buffers),
      reading_(std::max(readers, 1)) {
  const int threads = reading_;
  readers_.reserve(static_cast<std::size_t>(threads));
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  (void)madvise(memory, bytes_, MADV_HUGEPAGE);
  try {
    for (int i = 0; i < threads; ++i) readers_.emplace_back([this] { read_blocks(); });
  } catch (...) {  // no more threads, or no memory for them: with those there are
    if (readers_.empty()) {
      munmap(memory_, bytes_);
      throw;
    }
    const std::lock_guard lock(mutex_);
    reading_ -= threads - static_cast<int>(readers_.size());
  }
}

TextRing::~TextRing() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  source_.stop();
  readers_.clear();
  munmap(memory_, bytes_);
}

std::span<char> TextRing::wait_for_buffer(std::size_t index) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || has_buffer(index); });
  if (stopped_) throw Stopped();
  auto* const begin = reinterpret_cast<char*>(memory_) + index % blocks_.size() * stride_;
  return {begin, stride_ - padding};
}

void TextRing::read_blocks() {
  const EntrySource::BufferOf buffer_of = [this](std::size_t index) {
    return wait_for_buffer(index);
  };
  for (bool more = true; more;) {
    std::optional<TextBlock> block;
    std::exception_ptr failure;
    try {
      block = source_.next(buffer_of);
    } catch (...) {
      failure = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    // (A block with an error may never have asked for a buffer.)
    changed_.wait(lock, [&] { return stopped_ || !block || has_buffer(block->index); });
    more = block && !block->error && !stopped_;
    if (block) {
      std::optional<TextBlock>& place = blocks_[block->index % blocks_.size()];
      place = std::move(block);
    }
    if (failure && !failure_) {
      failure_ = failure;
      stopped_ = true;  // the others may wait for buffers that nobody will release
    }
    if (!more) --reading_;
    changed_.notify_all();
  }
}

bool TextRing::ready() {
  const std::lock_guard lock(mutex_);
  return reading_ == 0 || blocks_[next_ % blocks_.size()];
}

std::optional<TextBlock> TextRing::take() {
  std::unique_lock lock(mutex_);
  std::optional<TextBlock>& place = blocks_[next_ % blocks_.size()];
  changed_.wait(lock, [&] { return place || reading_ == 0; });
  if (failure_ && (!place || place->error)) std::rethrow_exception(failure_);
  if (!place) return std::nullopt;
  ++next_;
  return std::exchange(place, std::nullopt);
}

void TextRing::release(std::size_t blocks) {
  {
    const std::lock_guard lock(mutex_);
    released_ += blocks;
  }
  changed_.notify_all();
}

}  // namespace pagerank::gpu
