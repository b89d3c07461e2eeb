// What the libFuzzer targets of the readers have in common.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

#include "io/graph_text.hpp"
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

/// Whether the simple readers cannot read it.
inline bool is_compressed(const std::string& bytes) {
  return bytes.starts_with("\x1f\x8b");
}

}  // namespace pagerank::tests
