#pragma once

#include <cstring>
#include <string>

#include "io/input_error.hpp"
#include "io/matrix_market_reader.hpp"

namespace pagerank::tests {

/// What MatrixMarketReader is held against: reads the text of a file from front to back, line by
/// line, by the general way of parsing alone. `name` is the file's in messages.
[[nodiscard]] io::MatrixMarketGraph simple_read(const std::string& text, const std::string& name,
                                                SourceIndex source_index);

/// What a reader made of a file.
struct ReadOutcome {
  std::string error;  ///< Empty: `graph` was read.
  io::MatrixMarketGraph graph;
};

template <class Read>
[[nodiscard]] ReadOutcome outcome_of(Read read) {
  try {
    return {"", read()};
  } catch (const io::InputError& error) {
    return {error.what(), {}};
  }
}

template <class Numbers>  // Array or SharedArray
[[nodiscard]] bool same_bits(const Numbers& a, const Numbers& b) {
  if (a.empty()) return b.empty();
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

[[nodiscard]] inline bool same(const ReadOutcome& a, const ReadOutcome& b) {
  const EdgeList &x = a.graph.edges, &y = b.graph.edges;
  return a.error == b.error && a.graph.header.lines == b.graph.header.lines &&
         x.node_count == y.node_count && x.undirected == y.undirected &&
         same_bits(x.sources, y.sources) && same_bits(x.targets, y.targets) &&
         same_bits(x.weights, y.weights);
}

}  // namespace pagerank::tests
