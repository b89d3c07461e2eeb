// Compressed text: what gzip data is made of, what is wrong with it and when that is said, and
// bytes that come as they like.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "io/byte_source.hpp"
#include "io/decompression.hpp"
#include "io/input_error.hpp"
#include "tests/compressed_samples.hpp"
#include "tests/emulated_readers.hpp"
#include "tests/gzip_data.hpp"
#include "tests/standard_input.hpp"
#include "tests/support.hpp"
#include "tests/text_samples.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using namespace std::chrono_literals;
using io::ByteSource;
using io::GzipStream;

/// All that a source gives, asked for so many bytes at a time.
template <class Source>
std::string all_of(Source& source, std::size_t step) {
  std::string all, buffer(step, ' ');
  while (const std::size_t got = source.read(buffer)) all.append(buffer, 0, got);
  return all;
}

/// Gives the bytes of a string, so many at a time, and counts what it is asked for after its end.
class Bytes {
 public:
  Bytes(std::string bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  std::size_t operator()(std::span<char> buffer) {
    const std::size_t got = bytes_.copy(buffer.data(), std::min(buffer.size(), step_), at_);
    at_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t step_, at_ = 0;
};

/// Some hundred kilobytes that do not compress well.
std::string some_text() {
  Random random(31);
  return long_text(true, random);
}

struct Pipe {
  Pipe() { REQUIRE(pipe(ends.data()) == 0); }
  ~Pipe() {
    close(ends[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() { close(std::exchange(ends[1], -1)); }
  void write_all(const std::string& bytes) const {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = write(ends[1], bytes.data() + at, bytes.size() - at);
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
  }
  /// Waits until all that was written has been read.
  void wait_until_read() const {
    for (int left = 1, i = 0; left > 0 && i < 10'000; ++i) {
      ioctl(ends[0], FIONREAD, &left);
      if (left > 0) std::this_thread::sleep_for(1ms);
    }
  }
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends[0]); }

  std::array<int, 2> ends{};
};

/// What zlib makes of a single member in one call, and what it says of the end.
BadEnd decompressed_at_once(const std::string& data) {
  z_stream stream{};
  constexpr int gzip_alone = 16;
  REQUIRE(inflateInit2(&stream, MAX_WBITS + gzip_alone) == Z_OK);
  std::string input = data, text(std::size_t{1} << 22, ' ');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_NO_FLUSH);
  text.resize(text.size() - stream.avail_out);
  std::string error;
  if (result == Z_DATA_ERROR) {
    error = std::string("damaged compressed data: ") + stream.msg;
  } else if (result != Z_STREAM_END) {
    error = "compressed data is cut off";
  }
  inflateEnd(&stream);
  return {text, error};
}

/// Whether a text is refused for what it lacks at its end.
bool lacks_an_end(const std::string& error) {
  using io::ParseFault;
  for (const ParseFault fault : {ParseFault::missing_size_line, ParseFault::too_few_entries,
                                 ParseFault::entries_exceed_text, ParseFault::no_links}) {
    if (error.find(io::describe(fault)) != std::string::npos) return true;
  }
  return error.ends_with(": the file is empty");
}

}  // namespace

TEST_CASE("gzip data of any number of members is decompressed, however it comes and is taken") {
  const std::string text = some_text(), half = text.substr(text.size() / 2);
  const std::string none = gzip(""), zeros(300'000, '\0');
  const std::vector<std::pair<std::string, std::string>> samples = {
      {none, ""},
      {none + none + zeros, ""},
      {gzip("1"), "1"},
      {gzip(text), text},
      {gzip(text) + gzip(half), text + half},
      {none + gzip("a\n") + none + none + gzip(text) + none, "a\n" + text},
      {gzip("a\n") + '\0', "a\n"},
      {gzip(text) + zeros, text},
  };
  const TemporaryDirectory files;
  for (const auto& [data, expected] : samples) {
    for (const std::size_t step : {1U, 2U, 3U, 1'000'000U}) {
      GzipStream stream(Bytes(data, step), "a file");
      CHECK(all_of(stream, expected.size() < 10 ? 1 : 70'000) == expected);
      std::string buffer(10, ' ');
      CHECK(stream.read(buffer) == 0);
    }
    write_file(files / "a", data);
    ByteSource source((files / "a").string());
    CHECK_FALSE(source.size());
    CHECK(all_of(source, 70'001) == expected);
    CHECK(source.bytes_taken() == data.size());
  }
}

TEST_CASE("what is wrong with gzip data is said behind its last byte, again and again") {
  const TemporaryDirectory files;
  for (const std::string& text : {std::string(), std::string("1 2\n1"), some_text()}) {
    for (const BadEnd& end : bad_ends_of(text)) {
      CAPTURE(text.size());
      CAPTURE(end.error);
      const std::string expected = "a file: " + end.error;
      for (const std::size_t step : {1U, 1'000'000U}) {
        for (const std::size_t room : {std::size_t{1}, std::size_t{77}, text.size() + 10}) {
          GzipStream stream(Bytes(end.data, step), "a file");
          std::string found, buffer(room, ' ');
          while (found.size() < text.size()) {
            const std::size_t got = stream.read(buffer);
            REQUIRE(got > 0);
            found.append(buffer, 0, got);
          }
          CHECK(found == text);
          for (int i = 0; i < 3; ++i) {
            CHECK_THROWS_WITH_AS((void)stream.read(buffer), expected.c_str(), io::InputError);
          }
        }
      }
      const std::string path = (files / "a").string();
      write_file(path, end.data);
      for (const bool peeks : {false, true}) {
        ByteSource source(path);
        if (peeks && text.empty()) {
          CHECK_THROWS_WITH_AS((void)source.peek(256), doctest::Contains(end.error.c_str()),
                               io::InputError);
        } else if (peeks) {
          CHECK(source.peek(256) == text.substr(0, 256));
        }
        std::string buffer(text.size() + 10, ' ');
        if (!text.empty()) CHECK(source.read(buffer) == text.size());
        CHECK(buffer.starts_with(text));
        for (int i = 0; i < 3; ++i) {
          CHECK_THROWS_WITH_AS((void)source.read(buffer), (path + ": " + end.error).c_str(),
                               io::InputError);
        }
      }
    }
  }
}

TEST_CASE("as much is had of data that is cut off as there is, whatever room there is for it") {
  // Long repeats: what a few last bytes stand for has no room in a small buffer.
  const std::string whole =
      gzip("1 2\n" + std::string(3000, '7') + "\n3 4\n" + std::string(900, ' '));
  for (std::size_t size = GzipStream::magic_bytes; size < whole.size(); ++size) {
    const std::string data = whole.substr(0, size);
    const std::string expected = decompressed_at_once(data).data;
    for (const std::size_t room : {1U, 100U, 5000U}) {
      GzipStream stream(Bytes(data, room), "a file");
      std::string found, buffer(room, ' ');
      CHECK_THROWS_WITH_AS(
          while (const std::size_t got = stream.read(buffer)) found.append(buffer, 0, got),
          "a file: compressed data is cut off", io::InputError);
      CHECK(found == expected);
    }
  }
}

TEST_CASE_TEMPLATE("a bad line before damage is what is reported, and a line that it cuts is not",
                   Readers, MatrixMarketReaders, EmulatedReaders, IgnorantReaders, EdgeListReaders,
                   EmulatedEdgeListReaders) {
  for (const TextBeforeDamage& sample : texts_before_damage<Readers>()) {
    check_bad_ends<Readers>(sample, {1, 7, 65'536}, {1, 4});
  }
}

TEST_CASE_TEMPLATE("in long texts too a bad line before damage is what is reported", Readers,
                   MatrixMarketReaders, EmulatedReaders, EdgeListReaders, EmulatedEdgeListReaders) {
  for (const TextBeforeDamage& sample : long_texts_before_damage(reads_edge_lists<Readers>)) {
    check_bad_ends<Readers>(sample, {65'536, 1 << 20}, {3});
  }
}

TEST_CASE_TEMPLATE("readers say of damaged text what the simple one says of what comes before it",
                   Readers, MatrixMarketReaders, EmulatedReaders, EdgeListReaders,
                   EmulatedEdgeListReaders) {
  Random random(32);
  std::vector<std::string> texts = texts_of(Readers::corpus);
  for (const bool weighted : {false, true}) {
    texts.push_back(reads_edge_lists<Readers> ? long_edge_list(weighted ? 3 : 2, 500, random)
                                              : long_text(weighted, random));
  }
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  int bad_lines = 0, bad_ends = 0;
  for (int round = 0; round < 12; ++round) {
    for (const std::string& text : texts) {
      std::string data = gzip(round % 3 == 0 ? text : mutate(text, random));
      const std::size_t place = 2 + random() % (data.size() - 2);  // behind the magic number
      if (random() % 2 == 0) {
        data.resize(place);
      } else {
        data[place] = static_cast<char>(random());
      }
      const BadEnd found = decompressed_at_once(data);
      if (found.error.empty()) continue;
      const std::string whole_lines = found.data.substr(0, found.data.rfind('\n') + 1);
      std::string expected = outcome_of([&] { return Readers::simple(whole_lines, path); }).error;
      const bool is_end = expected.empty() || lacks_an_end(expected);
      ++(is_end ? bad_ends : bad_lines);
      if (is_end) expected = path + ": " + found.error;
      write_file(path, data);
      for (const std::size_t block_bytes : {std::size_t{1 + random() % 50}, block_sizes.back()}) {
        const int threads = 1 + static_cast<int>(random() % 4);
        const auto outcome = outcome_of([&] {
          ByteSource source(path);
          if (random() % 2 == 0) (void)source.peek(256);
          return Readers::parallel(source, {.threads = threads, .block_bytes = block_bytes});
        });
        CAPTURE(block_bytes);
        CAPTURE(threads);
        CAPTURE(found.error);
        CAPTURE(whole_lines.substr(0, 2000));
        CHECK(outcome.error == expected);
      }
    }
  }
  CHECK(bad_lines > 30);
  CHECK(bad_ends > 100);
}

TEST_CASE("a pipe may give its bytes one by one, compressed or not") {
  for (const std::string& data :
       {gzip("1 2\n3 4\n"), gzip("") + gzip("1 2\n3 4\n"), std::string("1 2\n3 4\n")}) {
    for (const bool peeks : {false, true}) {
      Pipe pipe;
      std::thread writer([&] {
        for (const char byte : data) {
          pipe.write_all({byte});
          pipe.wait_until_read();
        }
        pipe.close_writer();
      });
      ByteSource source(pipe.path());
      if (peeks) CHECK(source.peek(5) == "1 2\n3");
      CHECK(all_of(source, 6) == "1 2\n3 4\n");
      CHECK(source.bytes_taken() == data.size());
      writer.join();
    }
  }
  Pipe pipe;  // half of the magic number alone is text
  pipe.write_all("\x1f");
  pipe.close_writer();
  ByteSource source(pipe.path());
  CHECK(all_of(source, 6) == "\x1f");
}

TEST_CASE("the end of a pipe is its end, whoever writes to it then") {
  const TemporaryDirectory files;
  const std::string path = (files / "pipe").string();
  for (const bool compress : {false, true}) {
    fs::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    const std::string data = compress ? gzip("1 2\n") : "1 2\n";
    auto first = std::async(std::launch::async, [&] { write_file(path, data); });
    ByteSource source(path);
    CHECK(source.peek(256) == "1 2\n");
    first.get();
    write_file(path, data);
    CHECK(all_of(source, 10) == "1 2\n");
  }
}

TEST_CASE("reading that a signal interrupts goes on") {
  struct sigaction action {
  }, before{};
  static std::atomic<int> signals = 0;
  action.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  REQUIRE(sigaction(SIGUSR2, &action, &before) == 0);
  for (const std::string& data : {std::string("1 2\n"), gzip("1 2\n")}) {
    Pipe pipe;
    std::promise<pthread_t> reader;
    auto peeked = std::async(std::launch::async, [&] {
      ByteSource source(pipe.path());
      reader.set_value(pthread_self());
      return std::string(source.peek(256));  // in this thread
    });
    const pthread_t thread = reader.get_future().get();
    signals = 0;
    for (std::size_t at = 0; at < data.size(); at += 3) {
      for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(5ms);  // until it waits
        pthread_kill(thread, SIGUSR2);
      }
      pipe.write_all(data.substr(at, 3));
    }
    pipe.close_writer();
    CHECK(peeked.get() == "1 2\n");
    CHECK(signals >= 3);
  }
  sigaction(SIGUSR2, &before, nullptr);
}

TEST_CASE("a read error comes behind what could be read, again and again") {
  const std::string text = "%%MatrixMarket matrix coordinate pattern general\n3 3 9\n1 2\n";
  const std::string reset = "<stdin>: Connection reset by peer";
  const std::string whole = gzip(text);
  // A socket whose other end was closed with bytes unread gives its own bytes and then an error.
  const auto with_error_behind = [](const std::string& data, auto read) {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    REQUIRE(write(ends[0], "x", 1) == 1);
    REQUIRE(write(ends[1], data.data(), data.size()) == static_cast<ssize_t>(data.size()));
    close(ends[1]);
    {
      const StandardInput input(ends[0]);
      read();
    }
    close(ends[0]);
  };
  for (const std::string& data : {text, whole, whole.substr(0, whole.size() - 8)}) {
    for (const bool peeks : {false, true}) {
      with_error_behind(data, [&] {
        ByteSource source("-");
        if (peeks) CHECK(source.peek(256) == text);
        std::string buffer(256, ' ');
        CHECK(source.read(buffer) == text.size());
        CHECK(buffer.starts_with(text));
        for (int i = 0; i < 3; ++i) {
          CHECK_THROWS_WITH_AS((void)source.read(buffer), reset.c_str(), io::InputError);
        }
      });
    }
  }
  for (const std::string line : {"", "4 1\n", "4"}) {
    for (const bool compress : {false, true}) {
      with_error_behind(compress ? gzip(text + line) : text + line, [&] {
        ByteSource source("-");
        const auto outcome = outcome_of([&] { return MatrixMarketReaders::parallel(source, {}); });
        if (line == "4 1\n") {
          CHECK(outcome.error.starts_with("<stdin>:4: row index outside the matrix"));
        } else {
          CHECK(outcome.error == reset);
        }
      });
    }
  }
  for (const std::string first : {"", "\n", "\x1f", "\x1f\x8b"}) {  // before it is known what it is
    CAPTURE(first);
    with_error_behind(first, [&] {
      ByteSource source("-");
      const auto outcome = outcome_of([&] { return MatrixMarketReaders::parallel(source, {}); });
      CHECK((first == "\n" ? outcome.error.starts_with("<stdin>:1: ") : outcome.error == reset));
    });
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
