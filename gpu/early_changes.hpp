#pragma once

#include <cstdint>
#include <span>

#include "core/types.hpp"

namespace pagerank::gpu {

/// How a solve would begin, seen at some nodes before it does. What an iteration leaves of the
/// change before hardly falls afterwards, for what shrinks fast is gone first; it grows where rank
/// goes and hardly leaves again, as in citations, or where a few nodes catch it.
///
/// With B the transition matrix and n nodes, n * x_k = sum over j <= k of alpha^j * (B^j 1) *
/// g_(k-j), where g is what each iteration gives all nodes alike, of dangling nodes' rank too, and
/// g_0 = 1: sums over walks, which hold for every alpha, tell how ranks change from uniform ones.

/// Iterations that are seen at most.
inline constexpr int early_iterations = 4;

/// A node that is looked at.
struct SeenNode {
  double walks[early_iterations];  ///< (B^k 1) of the node, for k = 1 ..
  EdgeIndex in_links;
  std::uint64_t dangling;  ///< 0 or 1: without padding, whose bytes nobody would write.
};

struct Outlook {
  /// Until the change promises the tolerance, if it goes on shrinking as it does at last.
  double iterations;
  /// What the last iteration leaves of the change before it, over what the one before it left: 1 of
  /// a change that shrinks evenly.
  double growth;
};

/// By the first `iterations` changes, at least 3. Half of the nodes were drawn evenly of all
/// `nodes`, half as targets of links drawn evenly of all `links`; there is at least one.
[[nodiscard]] Outlook outlook_by_early_changes(std::span<const SeenNode> seen, int iterations,
                                               std::uint64_t nodes, EdgeIndex links, double alpha,
                                               double tolerance);

/// From that growth on another iteration is worth seeing.
inline constexpr double worth_another_look = 1.1;

/// Nodes with more in-links than that are taken for nodes whose walks stay what they were, 1: sums
/// over all theirs would take longer than all else.
inline constexpr EdgeIndex longest_seen_row = 512;

/// Of the links, how many may lead to such nodes: with more the changes seen are others.
inline constexpr double most_unseen_links = 0.02;

}  // namespace pagerank::gpu
