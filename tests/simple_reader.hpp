#pragma once

#include <cstring>
#include <string>

#include "core/transition_matrix.hpp"
#include "io/edge_list_reader.hpp"
#include "io/input_error.hpp"
#include "io/matrix_market_reader.hpp"

namespace pagerank::tests {

/// What MatrixMarketReader is held against: reads the text of a file from front to back, line by
/// line, field by field, numbers by the C library. It shares the header's parser alone. `name` is
/// the file's in messages.
[[nodiscard]] io::MatrixMarketGraph simple_read(const std::string& text, const std::string& name,
                                                SourceIndex source_index);

/// What EdgeListReader is held against: the same, and the nodes numbered by a std::map.
[[nodiscard]] io::LabelledEdgeList simple_read_edges(const std::string& text,
                                                     const std::string& name,
                                                     SourceIndex source_index);

/// What a reader made of a file.
template <class Graph>
struct ReadOutcome {
  std::string error;  ///< Empty: `graph` was read.
  Graph graph;
};

template <class Read>
[[nodiscard]] auto outcome_of(Read read) -> ReadOutcome<decltype(read())> {
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

[[nodiscard]] inline bool same_bits(const EdgeList& a, const EdgeList& b) {
  return a.node_count == b.node_count && a.undirected == b.undirected &&
         same_bits(a.sources, b.sources) && same_bits(a.targets, b.targets) &&
         same_bits(a.weights, b.weights);
}

[[nodiscard]] inline bool same_bits(const io::MatrixMarketGraph& a,
                                    const io::MatrixMarketGraph& b) {
  return a.header.lines == b.header.lines && same_bits(a.edges, b.edges);
}

[[nodiscard]] inline bool same_bits(const io::LabelledEdgeList& a, const io::LabelledEdgeList& b) {
  return same_bits(a.labels, b.labels) && same_bits(a.edges, b.edges);
}

[[nodiscard]] inline bool same_bits(const TransitionMatrix& a, const TransitionMatrix& b) {
  return same_bits(a.in_links.row_offsets, b.in_links.row_offsets) &&
         same_bits(a.in_links.column_indices, b.in_links.column_indices) &&
         same_bits(a.in_links.values, b.in_links.values) &&
         same_bits(a.inverse_out_weight, b.inverse_out_weight) && a.dangling == b.dangling;
}

template <class Graph>
[[nodiscard]] bool same(const ReadOutcome<Graph>& a, const ReadOutcome<Graph>& b) {
  return a.error == b.error && same_bits(a.graph, b.graph);
}

}  // namespace pagerank::tests
