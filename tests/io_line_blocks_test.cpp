#include "io/line_blocks.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using Blocks = io::LineBlocks;

/// A buffer that the system cannot write to the end of, and whose pages are not there yet: reading
/// into it takes a while, and fails.
class BrokenBuffer {
 public:
  BrokenBuffer() {
    void* const memory = mmap(nullptr, Blocks::buffer_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    begin_ = static_cast<char*>(memory);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    REQUIRE(mprotect(begin_ + Blocks::buffer_bytes - page, page, PROT_NONE) == 0);
  }
  ~BrokenBuffer() { munmap(begin_, Blocks::buffer_bytes); }
  BrokenBuffer(const BrokenBuffer&) = delete;
  BrokenBuffer& operator=(const BrokenBuffer&) = delete;
  [[nodiscard]] std::span<char> all() const { return {begin_, Blocks::buffer_bytes}; }

 private:
  char* begin_ = nullptr;
};

}  // namespace

TEST_CASE("a block that cannot be read is an error, though who reads the next waits for a buffer") {
  const TemporaryDirectory files;
  std::string text;
  while (text.size() < 3 * Blocks::buffer_bytes) text += "1 2\n";
  write_file(files / "links.el", text);
  // Whether the other has come to its buffer before reading fails is chance.
  for (int round = 0; round < 20; ++round) {
    const BrokenBuffer broken;
    io::ByteSource source((files / "links.el").string());
    Blocks blocks(source, Blocks::longest_line, {});
    std::promise<void> failed;
    std::atomic<bool> in_vain = false;
    PageArray<char> sound;
    std::jthread other;
    const std::optional<io::LineBlock> block = blocks.next([&](std::size_t index) {
      CHECK(index == 0);
      other = std::jthread([&] {
        (void)blocks.next([&](std::size_t) {
          using namespace std::chrono_literals;
          in_vain = failed.get_future().wait_for(5s) != std::future_status::ready;
          sound.resize(Blocks::buffer_bytes);
          return std::span(sound);
        });
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the other waits for its turn
      return broken.all();
    });
    failed.set_value();
    other.join();
    REQUIRE(block.has_value());
    CHECK(block->index == 0);
    CHECK(block->error);
    CHECK_FALSE(in_vain);
    CHECK_FALSE(blocks.next(sound).has_value());
    if (in_vain) break;
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
