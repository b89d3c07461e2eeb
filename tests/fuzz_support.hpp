// What the libFuzzer targets of the readers have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "io/graph_text.hpp"
#include "tests/gzip_data.hpp"
#include "tests/memory_file.hpp"

namespace pagerank::tests {

inline void require(bool holds, const char* what, const std::string& expected,
                    const std::string& found) {
  if (holds) return;
  std::cerr << what << "\nexpected: " << expected << "\nfound: " << found << '\n';
  std::abort();
}

/// How to read an input of this size: blocks and threads come from the input too.
inline io::ReadOptions read_options_for(std::size_t size) {
  constexpr std::size_t block_sizes[] = {1, 2, 7, 30, 1000, 65'536};
  return {.threads = 1 + static_cast<int>(size % 3), .block_bytes = block_sizes[size / 3 % 6]};
}

/// What the readers are given, and the text that the simple ones find in it.
struct FuzzInput {
  std::string file;
  std::optional<std::string> text;  ///< None of gzip data that is damaged or of several members.
};

/// Every fourth input as gzip data of itself: what changes gzip data leaves little of it whole.
inline FuzzInput fuzz_input(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("\x1f\x8b")) return {bytes, gunzip(bytes)};
  return {size / 18 % 4 == 3 ? gzip(bytes) : bytes, bytes};
}

}  // namespace pagerank::tests
