#pragma once

#include <utility>

#include "core/array.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Which index of a matrix entry (i, j) names the node that the link starts from.
enum class SourceIndex {
  row,    ///< (i, j) is a link from i to j: the habit of SuiteSparse, SNAP and graph tools.
  column  ///< (i, j) is a link from j to i: the file is the matrix B of x = B x.
};

/// The links of a graph in the order in which they were given: the one statement of what a matrix
/// entry means. Repeated links add up and self loops are ordinary links.
struct EdgeList {
  NodeId node_count = 0;

  /// Both of the same length, one element an entry, each below node_count.
  Array<NodeId> sources;
  Array<NodeId> targets;

  /// One finite weight >= 0 an entry, or empty: then every entry weighs 1.
  Array<double> weights;

  /// An undirected graph holds each link between two nodes once, and it counts in both
  /// directions; a self loop counts once.
  bool undirected = false;

  [[nodiscard]] EdgeIndex entry_count() const { return sources.size(); }
  [[nodiscard]] bool weighted() const { return !weights.empty(); }

  /// Appends the matrix entry (row, column), both counted from 0, read as `source_index` says.
  /// The caller appends to `weights` in step if the graph has any.
  void add_entry(SourceIndex source_index, NodeId row, NodeId column) {
    if (source_index == SourceIndex::column) std::swap(row, column);
    sources.push_back(row);
    targets.push_back(column);
  }
};

}  // namespace pagerank
