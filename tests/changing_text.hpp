#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/both_readers.hpp"
#include "tests/compressed_samples.hpp"

/// Files that change between being opened and being read.
namespace pagerank::tests {

/// A graph with 300 lines of links, the last without its newline.
template <class Readers>
[[nodiscard]] std::string text_of_graph() {
  std::string text;
  if constexpr (!reads_edge_lists<Readers>) {
    text = "%%MatrixMarket matrix coordinate pattern general\n2000 2000 300\n";
  }
  for (int i = 0; i < 300; ++i) {
    text += (i > 0 ? "\n" : "") + std::to_string(1001 + i) + " " + std::to_string(1700 - i);
  }
  return text;
}

/// What reading a file, called "graph", ends with that becomes `after` once it is open.
template <class Readers>
[[nodiscard]] std::string error_of_changed(const std::string& before, const std::string& after,
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

inline constexpr const char* changed_while_read = "graph: changed while it was read";

/// A file that shrinks or grows is refused, and one that stays as it was is not.
template <class Readers>
void check_changed_files(const std::vector<std::size_t>& sizes,
                         const std::vector<int>& all_threads) {
  const std::string text = text_of_graph<Readers>();
  const std::size_t line = text.rfind('\n', 2 * text.size() / 3) + 1;
  for (const std::size_t block_bytes : sizes) {
    for (const int threads : all_threads) {
      CAPTURE(block_bytes);
      CAPTURE(threads);
      const io::ReadOptions options{.threads = threads, .block_bytes = block_bytes};
      // In the middle of a number, behind a line, and so on.
      for (const std::size_t left :
           {std::size_t{0}, line, line + 2, line + 4, text.size() - 2, text.size() - 1}) {
        CAPTURE(left);
        CHECK(error_of_changed<Readers>(text, text.substr(0, left), options) == changed_while_read);
      }
      for (const char* const more : {"7", "\n", "\n1001 1700\n", " 1\n"}) {
        CAPTURE(more);
        CHECK(error_of_changed<Readers>(text, text + more, options) == changed_while_read);
      }
      CHECK(error_of_changed<Readers>(text, text, options).empty());
    }
  }
}

/// Of a file that shrinks, a bad line before the end that it has now is reported.
template <class Readers>
void check_bad_line_before_new_end(const std::vector<int>& all_threads) {
  std::string text = text_of_graph<Readers>();
  const std::size_t bad = text.find("1100 ");
  text[bad] = 'x';
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(bad), '\n') + 1;
  for (const int threads : all_threads) {
    CAPTURE(threads);
    const std::string error = error_of_changed<Readers>(text, text.substr(0, text.size() / 2),
                                                        {.threads = threads, .block_bytes = 64});
    CHECK(error.starts_with("graph:" + std::to_string(line) + ": expected a"));
  }
}

}  // namespace pagerank::tests
