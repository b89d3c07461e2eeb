#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <random>

#include "core/edge_list.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank::tests {

/// Links between any two nodes; weights are eighths below 125.
inline EdgeList random_graph(NodeId nodes, std::size_t entries, bool weighted, unsigned seed) {
  std::mt19937_64 random(seed);
  EdgeList edges;
  edges.node_count = nodes;
  for (std::size_t e = 0; e < entries; ++e) {
    edges.add_entry(SourceIndex::row, static_cast<NodeId>(random() % nodes),
                    static_cast<NodeId>(random() % nodes));
    if (weighted) edges.weights.push_back(static_cast<double>(random() % 1000) / 8);
  }
  return edges;
}

inline void check_same_matrix(const TransitionMatrix& a, const TransitionMatrix& b) {
  CHECK(a.in_links.row_offsets == b.in_links.row_offsets);
  CHECK(a.in_links.column_indices == b.in_links.column_indices);
  CHECK(a.in_links.values == b.in_links.values);
  CHECK(a.inverse_out_weight == b.inverse_out_weight);
  CHECK(a.dangling == b.dangling);
  CHECK(a.distinct_links == b.distinct_links);
}

}  // namespace pagerank::tests
