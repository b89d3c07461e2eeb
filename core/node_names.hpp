#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/labelled_links.hpp"
#include "core/types.hpp"

namespace pagerank {

/// What the rows of a matrix, and so scores, are called outside the program.
struct NodeNames {
  std::span<const std::uint64_t> labels;  ///< NodeLabels

  /// TransitionMatrix::more_unlinked. Not 0: nodes are called 1, 2, ..., all rows but the last have
  /// a label, and the last one stands for the nodes that are left.
  std::uint64_t more_unlinked = 0;

  /// Whether nodes are called anything but 1, 2, ...
  [[nodiscard]] bool are_given() const { return !labels.empty() && more_unlinked == 0; }
};

/// How many nodes have these scores.
[[nodiscard]] inline std::uint64_t node_count_of(std::span<const double> scores,
                                                 const NodeNames& names) {
  return scores.size() + names.more_unlinked;
}

/// The nodes, one after the other, that a last row stands for, if it stands for more than one.
class UnlinkedNodes {
 public:
  explicit UnlinkedNodes(const NodeNames& names)
      : linked_(names.labels), left_(names.more_unlinked > 0 ? names.more_unlinked + 1 : 0) {
    skip_linked();
  }
  [[nodiscard]] bool done() const { return left_ == 0; }
  [[nodiscard]] std::uint64_t label() const { return label_; }
  void next() {
    --left_;
    ++label_;
    skip_linked();
  }

 private:
  void skip_linked() {
    for (; next_ < linked_.size() && linked_[next_] == label_; ++next_) ++label_;
  }

  std::span<const std::uint64_t> linked_;
  std::uint64_t left_;
  std::size_t next_ = 0;  ///< Of linked_.
  std::uint64_t label_ = 1;
};

/// Calls visit(label, score) for each node, in order of their labels.
template <class Visit>
void for_each_node(std::span<const double> scores, const NodeNames& names, Visit visit) {
  const std::size_t rows = names.more_unlinked > 0 ? scores.size() - 1 : scores.size();
  NodeId row = 0;
  const auto visit_row = [&](NodeId at) { visit(label_of(at, names.labels), scores[at]); };
  for (UnlinkedNodes nodes(names); !nodes.done(); nodes.next()) {
    for (; row < rows && names.labels[row] < nodes.label(); ++row) visit_row(row);
    visit(nodes.label(), scores.back());
  }
  for (; row < rows; ++row) visit_row(row);
}

/// Calls visit(label, score) for the first `most` nodes of a ranking, of which `order` has the
/// rows: what rank_nodes() returns for a depth of at least that.
template <class Visit>
void for_each_ranked(std::span<const double> scores, std::span<const NodeId> order,
                     const NodeNames& names, std::uint64_t most, Visit visit) {
  std::size_t at = 0;
  std::uint64_t left = std::min(most, node_count_of(scores, names));
  const auto label_at = [&] { return label_of(order[at], names.labels); };
  const auto visit_row = [&] {
    visit(label_at(), scores[order[at]]);
    ++at;
    --left;
  };
  if (names.more_unlinked > 0) {
    const double shared = scores.back();
    const std::size_t last = scores.size() - 1;
    const auto is_alike = [&] {
      return at < order.size() && scores[order[at]] == shared && order[at] != last;
    };
    while (left > 0 && at < order.size() && scores[order[at]] > shared) visit_row();
    for (UnlinkedNodes nodes(names); left > 0 && !nodes.done(); nodes.next()) {
      while (left > 0 && is_alike() && label_at() < nodes.label()) visit_row();
      if (left == 0) break;
      visit(nodes.label(), shared);
      --left;
    }
    while (left > 0 && is_alike()) visit_row();
    if (at < order.size() && order[at] == last) ++at;
  }
  while (left > 0 && at < order.size()) visit_row();
}

}  // namespace pagerank
