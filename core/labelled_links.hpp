#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/array.hpp"
#include "core/edge_list.hpp"
#include "core/page_array.hpp"
#include "core/transition_builder.hpp"
#include "core/types.hpp"

namespace pagerank {

/// What nodes are called outside the program: the label of each, ascending. Empty: node i, counted
/// from 0, is called i + 1.
using NodeLabels = Array<std::uint64_t>;

/// What node is called outside, by such labels.
[[nodiscard]] inline std::uint64_t label_of(NodeId node, std::span<const std::uint64_t> labels) {
  return labels.empty() ? std::uint64_t{node} + 1 : labels[node];
}

/// Throws std::length_error if a graph of so many nodes cannot be held.
void require_node_count(std::uint64_t nodes, std::uint64_t most_nodes = max_node_count);

/// Links between nodes that any 64-bit numbers name, collected piece by piece, from several
/// threads. Once all are there the nodes that occur are numbered in order of their labels: so the
/// numbers do not depend on who saw which label first, nor on the order of the links, and equal
/// scores are ranked by label. 8 bytes a link, 8 more with weights.
///
/// Numbering takes two ways. Where labels lie close together (up to 16 times as many values in
/// their range as there are links) those that occur are marked in an array of bits, and a node's
/// number is the count of the bits before its own. Elsewhere each piece's labels are distributed
/// over hash tables small enough for the cache, each distinct label gets a place in its table, and
/// only the distinct ones are sorted (by radix). Which way it will be shows when all links are
/// there; of a piece whose labels 32 bits do not tell apart, at once: places are what is kept of
/// it.
class LabelledLinks {
 public:
  LabelledLinks();
  ~LabelledLinks();

  /// Adds links, the `piece`th of the graph: as TransitionMatrixBuilder::add() has it, but for
  /// the labels. Throws std::length_error if a table is full: each holds 2^24 labels, so that one
  /// may be full a thousandth below max_node_count.
  void add(std::size_t piece, std::span<const std::uint64_t> sources,
           std::span<const std::uint64_t> targets, std::span<const double> weights);

  [[nodiscard]] EdgeIndex link_count() const;

  /// Once all links are there, and once only: numbers the nodes. Throws std::length_error if there
  /// are more than `most_nodes`.
  void number_nodes(int threads = 0, std::uint64_t most_nodes = max_node_count);

  /// After number_nodes():
  [[nodiscard]] NodeId node_count() const { return node_count_; }
  [[nodiscard]] NodeLabels take_labels() { return std::move(labels_); }

  /// Hands all links to a builder and forgets them, piece by piece.
  void move_into(TransitionMatrixBuilder& builder, int threads = 0);

  /// All links in order, forgetting them.
  [[nodiscard]] EdgeList take_edges();

 private:
  /// Labels as their distances from the piece's least, or as places in the tables; once they are
  /// numbered, node ids.
  struct Piece {
    PageArray<std::uint32_t> sources, targets;
    PageArray<double> weights;
    std::uint64_t least = 0, most = 0;  ///< Labels.
    bool in_tables = false;
  };
  class Tables;

  Tables& tables();
  void number_close_labels(std::uint64_t least, std::uint64_t most, int threads,
                           std::uint64_t most_nodes);
  void number_any_labels(int threads, std::uint64_t most_nodes);
  /// Calls body(ends, piece) for the sources and the targets of every piece.
  template <class Body>
  void for_each_ends(int threads, Body body);
  void set_labels(NodeLabels labels);

  std::mutex mutex_;  ///< Guards the vector, not its elements, and the pointer.
  std::vector<Piece> pieces_;
  std::unique_ptr<Tables> tables_;  ///< When first needed.
  NodeId node_count_ = 0;
  NodeLabels labels_;
};

}  // namespace pagerank
