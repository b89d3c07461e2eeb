#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/both_readers.hpp"

/// Compressed texts that end badly.
namespace pagerank::tests {

/// gzip data of a text with something wrong behind the last byte of it.
struct BadEnd {
  std::string data;
  std::string error;  ///< Without the file's name.
};
[[nodiscard]] std::vector<BadEnd> bad_ends_of(const std::string& text);

/// A text that a bad end is put behind.
struct TextBeforeDamage {
  std::string text;
  std::uint64_t bad_line;  ///< Which is reported then; 0: the bad end is.
};
[[nodiscard]] std::vector<TextBeforeDamage> matrices_before_damage();
[[nodiscard]] std::vector<TextBeforeDamage> edge_lists_before_damage();
/// Of some pieces that are read ahead, or nearly.
[[nodiscard]] std::vector<TextBeforeDamage> long_texts_before_damage(bool edge_list);

/// Reads a text with every bad end by Readers::parallel(). The simple reader says what a bad line
/// is called.
template <class Readers>
void check_bad_ends(const TextBeforeDamage& sample, const std::vector<std::size_t>& sizes,
                    const std::vector<int>& all_threads) {
  const TemporaryDirectory files;
  const std::string path = (files / "graph.gz").string();
  const std::string bad_line = outcome_of([&] { return Readers::simple(sample.text, path); }).error;
  CAPTURE(sample.text.substr(0, 200));
  if (sample.bad_line > 0) {
    REQUIRE(bad_line.starts_with(path + ':' + std::to_string(sample.bad_line) + ": "));
  }
  for (const BadEnd& end : bad_ends_of(sample.text)) {
    write_file(path, end.data);
    const std::string expected = sample.bad_line > 0 ? bad_line : path + ": " + end.error;
    for (const std::size_t block_bytes : sizes) {
      for (const int threads : all_threads) {
        const auto outcome = outcome_of([&] {
          io::ByteSource source(path);
          if (threads > 1) (void)source.peek(256);
          return Readers::parallel(source, {.threads = threads, .block_bytes = block_bytes});
        });
        if (outcome.error == expected) continue;
        CAPTURE(end.error);
        CAPTURE(block_bytes);
        CAPTURE(threads);
        CHECK(outcome.error == expected);
      }
    }
  }
}

/// Whether these are the readers of edge lists.
template <class Readers>
constexpr bool reads_edge_lists = std::is_same_v<typename Readers::Graph, EdgeListReaders::Graph>;

template <class Readers>
[[nodiscard]] std::vector<TextBeforeDamage> texts_before_damage() {
  return reads_edge_lists<Readers> ? edge_lists_before_damage() : matrices_before_damage();
}

}  // namespace pagerank::tests
