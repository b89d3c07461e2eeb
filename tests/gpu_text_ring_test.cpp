#include "gpu/text_ring.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

/// Blocks that say their numbers; the readers are late at some of them.
class NumberSource : public gpu::EntrySource {
 public:
  /// `fails_at`: throws for that block; `cut_off`: the last block is an error.
  explicit NumberSource(std::size_t blocks, std::size_t fails_at = SIZE_MAX, bool cut_off = false)
      : blocks_(blocks), fails_at_(fails_at), cut_off_(cut_off) {}

  [[nodiscard]] gpu::EntryTextShape shape() const override { return {}; }
  [[nodiscard]] std::size_t buffer_bytes() const override { return 100; }
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override {
    const std::size_t index = next_++;
    if (index >= blocks_) return std::nullopt;
    if (cut_off_ && index + 1 == blocks_) {
      return gpu::TextBlock{index, {}, std::make_exception_ptr(std::runtime_error("cut off"))};
    }
    if (index == fails_at_) throw std::runtime_error("no block");
    const std::span<char> buffer = buffer_of(index);
    if (index % 7 == 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::string text = std::to_string(index) + "\n";
    text.copy(buffer.data(), text.size());
    return gpu::TextBlock{index, buffer.first(text.size()), nullptr};
  }
  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view) const override {
    return std::nullopt;
  }
  void stop() override {}
  void accept(std::size_t, std::uint64_t, std::uint64_t) override {}
  void inspect(const gpu::TextBlock&) override {}
  void close() override {}
  void require_nodes(std::uint64_t) const override {}

 private:
  std::size_t blocks_, fails_at_;
  bool cut_off_;
  std::atomic<std::size_t> next_ = 0;
};

/// After some blocks nothing comes any more, nor does the end, until it is stopped.
class SilentSource final : public NumberSource {
 public:
  explicit SilentSource(std::size_t blocks) : NumberSource(blocks) {}
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override {
    std::optional<gpu::TextBlock> block = NumberSource::next(buffer_of);
    if (!block) over_.wait();
    return block;
  }
  void stop() override { stopped_.set_value(); }

 private:
  std::promise<void> stopped_;
  std::shared_future<void> over_ = stopped_.get_future().share();
};

}  // namespace

TEST_CASE("blocks come out of the ring in their order, however many readers and buffers") {
  for (const int readers : {1, 2, 9}) {
    for (const std::size_t buffers : {1U, 2U, 5U, 200U}) {
      NumberSource source(150);
      gpu::TextRing ring(source, readers, buffers);
      std::size_t held = 0;
      for (std::size_t expected = 0; expected < 150; ++expected) {
        if (held == buffers) {
          ring.release(held);
          held = 0;
        }
        const std::optional<gpu::TextBlock> block = ring.take();
        REQUIRE(block.has_value());
        CHECK(block->index == expected);
        CHECK(block->view() == std::to_string(expected) + "\n");
        ++held;
      }
      CHECK_FALSE(ring.take().has_value());
      CHECK(ring.ready());
    }
  }
}

TEST_CASE("a ring that nobody takes from any more can be given up") {
  NumberSource source(1000);
  gpu::TextRing ring(source, 4, 3);
  CHECK(ring.take().has_value());
}

TEST_CASE("a ring has readers for all threads but two, and as many buffers as its text may need") {
  constexpr std::size_t buffer = std::size_t{1} << 20;  // of 16384 lines of 64 bytes
  const auto shape = [](std::uint64_t entries, int threads) {
    const gpu::EntryTextShape text{
        .format = {}, .declared_entries = entries, .expected_entries = entries};
    return gpu::ring_shape(text, buffer, threads);
  };
  CHECK(shape(1 << 20, 1).readers == 1);
  CHECK(shape(1 << 20, 2).readers == 1);
  CHECK(shape(1 << 20, 3).readers == 1);
  CHECK(shape(1 << 20, 16).readers == 14);
  CHECK(shape(0, 16).buffers == 4);
  CHECK(shape(16384 * 4, 16).buffers == 4);
  CHECK(shape(16384 * 20, 16).buffers == 20);
  CHECK(shape(16384 * 64, 16).buffers == 64);
  CHECK(shape(std::uint64_t{1} << 60, 16).buffers == 64);
  CHECK(gpu::ring_shape(
            gpu::EntryTextShape{.format = {}, .declared_entries = 100, .expected_entries = 100}, 10,
            4)
            .buffers == 64);
  // Of an edge list through a pipe nobody knows anything.
  CHECK(gpu::ring_shape(gpu::EntryTextShape{}, buffer, 16).buffers == 16);
}

TEST_CASE("a ring whose source has gone silent can be given up") {
  SilentSource source(2);
  gpu::TextRing ring(source, 3, 4);
  CHECK(ring.take().has_value());
  CHECK(ring.take().has_value());
}

TEST_CASE("a block that cannot be had keeps its place behind those that can") {
  NumberSource source(30, SIZE_MAX, true);
  gpu::TextRing ring(source, 8, 2);
  for (std::size_t expected = 0; expected < 30; ++expected) {
    const std::optional<gpu::TextBlock> block = ring.take();
    REQUIRE(block.has_value());
    CHECK(block->index == expected);
    CHECK((block->error != nullptr) == (expected == 29));
    ring.release(1);
  }
  CHECK_FALSE(ring.take().has_value());
}

TEST_CASE("what a reader throws comes out, at the latest where its block is missing") {
  NumberSource source(100, 40);
  gpu::TextRing ring(source, 3, 8);
  std::size_t taken = 0;
  const auto take_all = [&] {
    for (; taken <= 40; ++taken) {
      const std::optional<gpu::TextBlock> block = ring.take();
      REQUIRE(block.has_value());
      CHECK(block->index == taken);
      ring.release(1);
    }
  };
  CHECK_THROWS_WITH(take_all(), "no block");
  CHECK(taken <= 40);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
