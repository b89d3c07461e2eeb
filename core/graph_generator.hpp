#pragma once

#include "core/edge_list.hpp"

namespace pagerank {

enum class GraphKind {
  /// R-MAT with the Graph500 benchmark's probabilities .57 .19 .19 .05 (D. Chakrabarti, Y. Zhan,
  /// C. Faloutsos: R-MAT, SDM 2004): a social graph. Repeated links and self loops are kept. The
  /// number of nodes is a power of two; without `scramble` low node numbers have the most links.
  rmat,
  /// Source and target independent and uniform: no locality, no hubs.
  uniform,
  /// Source uniform; in 85 of 100 cases the target lies 10^(4u) away (u uniform in [0, 1), either
  /// side, modulo the number of nodes), else it is a hub: rank floor(n^u) - 1, hashed to a node.
  web,
  /// Source uniform, target always such a hub: in-degrees fall as 1 / rank.
  power_law,
  /// Source and target independent, the source any node but the first, the target any before it:
  /// rank goes one way.
  citation,
  /// Preferential attachment (A.-L. Barabasi, R. Albert: Emergence of Scaling in Random Networks,
  /// Science 286, 1999): each node but the first links to an end, drawn evenly, of a link before.
  preferential,
  /// Nine links in ten to the next nodes on a ring, as many as a node has links on average, the
  /// others anywhere (after D. J. Watts, S. H. Strogatz: Collective dynamics of 'small-world'
  /// networks, Nature 393, 1998).
  small_world,
  /// Uniform, but four links in five stay in their source's group of a hundred nodes.
  communities,
  /// Uniform, but of a fiftieth of the nodes all links but one in fifty stay in their source's
  /// group
  /// of a hundred: rank goes in as anywhere, and hardly out.
  traps,
  /// Node i links to itself: rows of one element.
  diagonal,
  /// Every node links to node 0 and to its successor: one row of n elements, n rows of one.
  hub
};

struct GraphRecipe {
  GraphKind kind = GraphKind::rmat;
  std::uint64_t nodes = 0;
  EdgeIndex links = 0;  ///< Entries made; diagonal and hub have as many as they have.
  std::uint64_t seed = 1;
  bool scramble = false;   ///< Renumber the nodes by a bijection drawn with the seed.
  bool symmetric = false;  ///< The graph is undirected: each entry is a link both ways.
  bool weighted = false;   ///< Each entry has a weight of 0.001, 0.002, .. 1, all alike often.
};

/// Makes the graph with `threads` threads (0: as many as OpenMP offers). The same recipe makes the
/// same graph, entry for entry, on any machine and with any number of threads: every entry draws
/// from a random stream of its own, in integer arithmetic.
/// Throws std::invalid_argument for a recipe that makes no graph.
[[nodiscard]] EdgeList generate_graph(const GraphRecipe& recipe, int threads = 0);

}  // namespace pagerank
