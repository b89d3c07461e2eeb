// Files that change while they are read: refused, not read in part.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "io/byte_source.hpp"
#include "io/input_error.hpp"
#include "tests/emulated_readers.hpp"
#include "tests/gzip_data.hpp"
#include "tests/standard_input.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

constexpr int links = 300;

/// A graph with as many lines of links, the last without its newline.
template <class Readers>
std::string text_of_graph() {
  std::string text;
  if constexpr (std::is_same_v<typename Readers::Graph, io::MatrixMarketGraph>) {
    text = "%%MatrixMarket matrix coordinate pattern general\n2000 2000 300\n";
  }
  for (int i = 0; i < links; ++i) {
    text += (i > 0 ? "\n" : "") + std::to_string(1001 + i) + " " + std::to_string(1700 - i);
  }
  return text;
}

/// What reading a file ends with that becomes `after` once it is open.
template <class Readers>
std::string error_of_changed(const std::string& before, const std::string& after,
                             const io::ReadOptions& options) {
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  write_file(path, before);
  io::ByteSource source(path);
  write_file(path, after);
  std::string error = outcome_of([&] { return Readers::parallel(source, options); }).error;
  if (error.starts_with(path)) error.replace(0, path.size(), "graph");
  return error;
}

const std::string changed = "graph: changed while it was read";

}  // namespace

TEST_CASE_TEMPLATE("a file that shrinks or grows while it is read is refused", Readers,
                   MatrixMarketReaders, EdgeListReaders, EmulatedReaders, EmulatedEdgeListReaders) {
  const std::string text = text_of_graph<Readers>();
  const std::size_t line = text.rfind('\n', 2 * text.size() / 3) + 1;
  for (const std::size_t block_bytes : {std::size_t{7}, std::size_t{64}, std::size_t{1} << 20}) {
    for (const int threads : {1, 4}) {
      CAPTURE(block_bytes);
      CAPTURE(threads);
      const io::ReadOptions options{.threads = threads, .block_bytes = block_bytes};
      // In the middle of a number, behind a line, and so on.
      for (const std::size_t left :
           {std::size_t{0}, line, line + 2, line + 4, text.size() - 2, text.size() - 1}) {
        CAPTURE(left);
        CHECK(error_of_changed<Readers>(text, text.substr(0, left), options) == changed);
      }
      for (const char* const more : {"7", "\n", "\n1001 1700\n", " 1\n"}) {
        CAPTURE(more);
        CHECK(error_of_changed<Readers>(text, text + more, options) == changed);
      }
      CHECK(error_of_changed<Readers>(text, text, options).empty());
    }
  }
}

TEST_CASE_TEMPLATE("a bad line before the end that a file has now comes first", Readers,
                   MatrixMarketReaders, EdgeListReaders, EmulatedReaders, EmulatedEdgeListReaders) {
  std::string text = text_of_graph<Readers>();
  const std::size_t bad = text.find("1100 ");
  text[bad] = 'x';
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(bad), '\n') + 1;
  for (const int threads : {1, 4}) {
    const std::string error = error_of_changed<Readers>(text, text.substr(0, text.size() / 2),
                                                        {.threads = threads, .block_bytes = 64});
    CHECK(error.starts_with("graph:" + std::to_string(line) + ": expected a"));
  }
}

TEST_CASE("compressed data that loses a part, or gets one, while it is read is refused") {
  const std::string first = gzip("1 2\n2 3\n"), second = gzip("3 1\n");
  using Readers = EdgeListReaders;
  CHECK(error_of_changed<Readers>(first + second, first, {}) == changed);
  CHECK(error_of_changed<Readers>(first, first + second, {}) == changed);
  CHECK(error_of_changed<Readers>(first, first.substr(0, first.size() / 2), {}) == changed);
  CHECK(error_of_changed<Readers>(first, first, {}).empty());
}

TEST_CASE("a file on standard input that shrinks or grows while it is read is refused") {
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  const std::string text = "1 2\n2 3\n3 1\n";
  const std::string skipped = "# read by others\n";
  for (const std::string& after : {std::string(), text.substr(0, 8), text, text + "4 1\n"}) {
    CAPTURE(after);
    write_file(path, skipped + text);
    const int descriptor = open(path.c_str(), O_RDONLY);
    lseek(descriptor, static_cast<off_t>(skipped.size()), SEEK_SET);
    const StandardInput input(descriptor);
    io::ByteSource source("-");
    write_file(path, skipped + after);
    std::string buffer(100, ' ');
    if (!after.empty()) {
      CHECK(source.read(buffer) == after.size());
      CHECK(buffer.starts_with(after));
    }
    for (int i = 0; i < 3; ++i) {
      if (after == text) {
        CHECK(source.read(buffer) == 0);
      } else {
        CHECK_THROWS_WITH_AS((void)source.read(buffer), "<stdin>: changed while it was read",
                             io::InputError);
      }
    }
    close(descriptor);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
