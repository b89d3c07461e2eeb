// Files that change while they are read: refused, not read in part.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "io/byte_source.hpp"
#include "io/input_error.hpp"
#include "tests/changing_text.hpp"
#include "tests/emulated_readers.hpp"
#include "tests/gzip_data.hpp"
#include "tests/standard_input.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

TEST_CASE_TEMPLATE("a file that shrinks or grows while it is read is refused", Readers,
                   MatrixMarketReaders, EdgeListReaders, EmulatedReaders, EmulatedEdgeListReaders) {
  check_changed_files<Readers>({7, 64, 1 << 20}, {1, 4});
}

TEST_CASE_TEMPLATE("a bad line before the end that a file has now comes first", Readers,
                   MatrixMarketReaders, EdgeListReaders, EmulatedReaders, EmulatedEdgeListReaders) {
  check_bad_line_before_new_end<Readers>({1, 4});
}

TEST_CASE("compressed data that loses a part, or gets one, while it is read is refused") {
  const std::string first = gzip("1 2\n2 3\n"), second = gzip("3 1\n");
  using Readers = EdgeListReaders;
  CHECK(error_of_changed<Readers>(first + second, first, {}) == changed_while_read);
  CHECK(error_of_changed<Readers>(first, first + second, {}) == changed_while_read);
  CHECK(error_of_changed<Readers>(first, first.substr(0, first.size() / 2), {}) ==
        changed_while_read);
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
