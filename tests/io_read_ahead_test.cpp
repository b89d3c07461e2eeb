// Streams that are read ahead: the same bytes, errors in their place, and an end at any time.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "io/byte_source.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/read_ahead.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using namespace std::chrono_literals;
using io::ReadAhead;

char byte_at(std::size_t place) {
  return static_cast<char>(place * 2654435761U >> 13);
}

/// A stream of so many bytes; `fails`: an error follows them.
ReadAhead::Read stream_of(std::size_t size, bool fails = false) {
  return [size, fails, place = std::size_t{0}](std::span<char> buffer) mutable {
    const std::size_t bytes = std::min(buffer.size(), size - place);
    if (fails && bytes == 0) throw std::runtime_error("torn");
    for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte_at(place++);
    return bytes;
  };
}

/// Waits for what happens soon, or never.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

}  // namespace

TEST_CASE("a stream that is read ahead has the same bytes, however it is taken") {
  constexpr std::size_t piece = ReadAhead::piece_bytes;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1,
                                 ReadAhead::most_pieces * piece, 21 * piece + 77}) {
    for (const std::size_t step : {std::size_t{999}, piece, 3 * piece + 5, 40 * piece}) {
      ReadAhead ahead(stream_of(size), false);
      std::string taken, buffer(step, ' ');
      for (std::size_t got = step; got == step;) {
        got = ahead.read(buffer);
        taken.append(buffer, 0, got);
      }
      REQUIRE(taken.size() == size);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < size; ++i) wrong += taken[i] != byte_at(i);
      CHECK(wrong == 0);
      CHECK(ahead.read(buffer) == 0);
    }
  }
}

TEST_CASE("an error of a stream that is read ahead is met where it lies, again and again") {
  constexpr std::size_t piece = ReadAhead::piece_bytes;
  ReadAhead ahead(stream_of(3 * piece + 10, true), false);
  std::string buffer(piece, ' ');
  for (int i = 0; i < 3; ++i) CHECK(ahead.read(buffer) == piece);
  CHECK(ahead.read(buffer) == 10);
  for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH((void)ahead.read(buffer), "torn");
}

TEST_CASE("reading ahead stops when enough lies ready, and goes on when it is taken") {
  std::atomic<std::size_t> calls = 0;
  ReadAhead ahead(
      [&calls](std::span<char> buffer) {
        ++calls;
        return buffer.size();
      },
      false);
  CHECK(soon([&] { return calls == ReadAhead::most_pieces; }));
  std::this_thread::sleep_for(50ms);
  CHECK(calls == ReadAhead::most_pieces);
  std::string buffer(2 * ReadAhead::piece_bytes, ' ');
  CHECK(ahead.read(buffer) == buffer.size());
  CHECK(soon([&] { return calls == ReadAhead::most_pieces + 2; }));
}  // and ends with pieces that nobody took

TEST_CASE("nobody waits for a stream that may stay silent, and its memory lives as long as it") {
  struct Silence {
    std::mutex mutex;
    std::condition_variable over;
    bool is_over = false;
    std::atomic<bool> is_heard = false;
  };
  const auto silence = std::make_shared<Silence>();
  {
    ReadAhead ahead(
        [silence](std::span<char>) {
          silence->is_heard = true;
          std::unique_lock lock(silence->mutex);
          silence->over.wait(lock, [&] { return silence->is_over; });
          return std::size_t{0};
        },
        true);
    CHECK(soon([&] { return silence->is_heard.load(); }));
  }
  CHECK(silence.use_count() > 1);
  {
    const std::lock_guard lock(silence->mutex);
    silence->is_over = true;
  }
  silence->over.notify_all();
  CHECK(soon([&] { return silence.use_count() == 1; }));
}

TEST_CASE("a compressed file is decompressed while its reader does something else") {
  const TemporaryDirectory files;
  const std::string path = (files / "zeros.gz").string();
  const std::string text(3 * ReadAhead::piece_bytes + 100, '0');
  write_gzip_file(path, text);
  io::ByteSource source(path);
  std::string all(text.size(), ' '), one(1, ' ');
  CHECK(source.peek(2) == "00");
  CHECK(source.read(one) == 1);
  CHECK(soon([&] { return source.bytes_taken() == source.bytes_to_take(); }));
  CHECK(source.read(all) == text.size() - 1);
}

TEST_CASE("who waits for a stream that stays silent goes on when it is stopped") {
  std::promise<void> over;
  ReadAhead ahead(
      [silence = over.get_future().share()](std::span<char>) {
        silence.wait();
        return std::size_t{0};
      },
      true);
  auto taken = std::async(std::launch::async, [&] {
    std::array<char, 4> buffer{};
    return ahead.read(buffer);
  });
  CHECK(taken.wait_for(50ms) == std::future_status::timeout);
  ahead.stop();
  CHECK(taken.wait_for(10s) == std::future_status::ready);
  over.set_value();  // or the test would not end where the check has failed
  CHECK(taken.get() == 0);
}

TEST_CASE("a bad line ends the reading of a pipe whose writer goes on being silent") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const std::string text = "%%MatrixMarket matrix coordinate pattern general\n3 3 9\n1 x\n";
    // A first block, which is waited for, and some of what follows, the rest of which never comes.
    const std::string block = text + std::string(2 * io::LineBlocks::longest_line - 100, '\n');
    REQUIRE(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20);  // holds what nobody reads
    std::thread writer([&] {
      for (std::size_t at = 0; at < block.size();) {
        const ssize_t wrote = write(ends[1], block.data() + at, block.size() - at);
        if (wrote <= 0) break;
        at += static_cast<std::size_t>(wrote);
      }
    });
    auto read = std::async(std::launch::async, [&] {
      io::ByteSource source("/dev/fd/" + std::to_string(ends[0]));
      (void)io::read_matrix_market(source, SourceIndex::row, {.threads = threads});
    });
    writer.join();
    const bool ended = read.wait_for(10s) == std::future_status::ready;
    close(ends[1]);
    CHECK(ended);
    CHECK_THROWS_WITH_AS(read.get(), doctest::Contains(":3: "), io::ParseError);
    close(ends[0]);
  }
}

TEST_CASE("a source that was stopped has come to its end") {
  const TemporaryDirectory files;
  write_gzip_file(files / "a.gz", "1 2\n");
  io::ByteSource source((files / "a.gz").string());
  CHECK(source.peek(1) == "1");
  source.stop();
  std::string rest(10, ' ');
  CHECK(source.read(rest) == 1);  // what was there already
  CHECK(source.read(rest) == 0);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
