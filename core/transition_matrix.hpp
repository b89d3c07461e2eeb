#pragma once

#include <cstdint>
#include <vector>

#include "core/csr_matrix.hpp"
#include "core/edge_list.hpp"
#include "core/types.hpp"

namespace pagerank {

/// The column-normalised matrix B of a graph, B(target, source) = weight of the link / sum of the
/// source's out-weights, held by target (in-links) so that y = B x walks the index arrays in order
/// and gathers x.
///
/// B(t, s) is inverse_out_weight[s] * in_links(t, s):
/// - an unweighted graph stores no values; inverse_out_weight[s] is 1 / out-degree of s. A link
///   given k times is stored k times: it sums to the same, for 4 bytes instead of a values array.
/// - a weighted graph stores in_links.values already divided by the source's out-weight, repeated
///   links merged, so inverse_out_weight[s] is 1. Dividing in double, before any narrowing, keeps
///   weights beyond the range of float (and sums beyond the range of double) meaningful.
/// - a dangling node (no out-weight: no out-links, or only links of weight 0) has 0 in both.
///
/// The arrays are shared, not copied, by copies of the matrix, and may lie in a mapped file.
struct TransitionMatrix {
  CsrMatrix in_links;
  SharedArray<double> inverse_out_weight;  ///< One a node.
  std::vector<NodeId> dangling;            ///< Rows, ascending.
  EdgeIndex distinct_links = 0;            ///< Different (source, target) pairs.

  /// So many nodes besides have no row: the last row, which has no links, stands for them, too, for
  /// without links all nodes have the same rank. 0 unless most nodes of a graph are such; whoever
  /// adds up ranks counts the last one so many times more.
  NodeId more_unlinked = 0;

  /// Rows, and so elements of vectors and scores.
  [[nodiscard]] NodeId node_count() const { return in_links.row_count(); }
  /// The n of the formula.
  [[nodiscard]] std::uint64_t graph_node_count() const {
    return std::uint64_t{node_count()} + more_unlinked;
  }
  [[nodiscard]] EdgeIndex link_count() const { return in_links.element_count(); }
  [[nodiscard]] bool weighted() const { return !in_links.values.empty(); }
};

/// Builds B with `threads` threads (0: as many as OpenMP offers). The result is the same, bit for
/// bit, for any number of threads. Takes the edges by value so that they can be freed on the way.
/// Throws std::invalid_argument if an array's length, a node id or a weight breaks what EdgeList
/// promises.
[[nodiscard]] TransitionMatrix make_transition_matrix(EdgeList edges, int threads = 0);

}  // namespace pagerank
