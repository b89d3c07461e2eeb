#include "tests/engine_graphs.hpp"

#include <random>
#include <utility>

#include "tests/support.hpp"

namespace pagerank::tests {
namespace {

using Links = std::vector<std::pair<NodeId, NodeId>>;

std::vector<NamedGraph> make_graphs() {
  constexpr NodeId n = 100;
  Links path, cycle, star_in, star_out, diagonal, complete;
  for (NodeId i = 0; i < n; ++i) {
    if (i + 1 < n) path.emplace_back(i, i + 1);
    cycle.emplace_back(i, (i + 1) % n);
    if (i > 0) star_in.emplace_back(i, 0);
    if (i > 0) star_out.emplace_back(0, i);
    diagonal.emplace_back(i, i);
    for (NodeId j = 0; j < n && i < 20; ++j) complete.emplace_back(i, j);
  }
  Links hub;
  constexpr NodeId hub_links = 100'000;
  for (NodeId i = 0; i < hub_links; ++i) hub.emplace_back(i + 1, 0);
  for (NodeId i = 0; i < 10; ++i) hub.emplace_back(0, i + 1);

  std::vector<NamedGraph> graphs = {
      {"one node without links", make_graph(1, {})},
      {"one node with a self loop", make_graph(1, {{0, 0}})},
      {"no links", make_graph(1000, {})},
      {"path", make_graph(n, path)},
      {"cycle", make_graph(n, cycle)},
      {"star inwards", make_graph(n, star_in)},
      {"star outwards", make_graph(n, star_out)},
      {"diagonal", make_graph(n, diagonal)},
      {"twenty link to all", make_graph(n, complete)},
      {"hub with 10^5 in-links", make_graph(hub_links + 1, hub)},
      {"empty rows", make_graph(3000, {{5, 2999}, {2999, 5}, {1024, 1023}, {0, 2048}})},
      {"self loops", make_graph(4, {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 0}, {3, 3}})},
      {"duplicates", make_graph(4, {{0, 1}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 0}, {2, 3}})},
      {"rows of 0, 1, 31, 32, 33", graph_of_row_lengths(2000, {0, 1, 31, 32, 33}, 1)},
      {"rows of 10^4", graph_of_row_lengths(40, {10'000, 3, 0, 1}, 2)},
      {"rows of 0 to 500, 94 on average", graph_of_row_lengths(2000, {0, 1, 500, 40, 5, 17}, 6)},
      {"sparse random", graph_of_row_lengths(20'000, {3, 0, 7, 1, 2}, 3)},
  };
  const std::size_t unweighted = graphs.size();
  for (std::size_t i = 0; i < unweighted; ++i) {
    if (graphs[i].edges.entry_count() == 0) continue;
    graphs.push_back({graphs[i].name + ", weighted",
                      with_random_weights(graphs[i].edges, static_cast<unsigned>(i))});
  }
  EdgeList undirected = graph_of_row_lengths(500, {0, 2, 5}, 4);
  undirected.undirected = true;
  graphs.push_back({"undirected", undirected});
  graphs.push_back({"undirected, weighted", with_random_weights(undirected, 5)});
  graphs.push_back(
      {"weights beyond float", make_graph(4, {{0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 3}, {3, 1}},
                                          {1e300, 3e300, 1e-300, 4e-300, 1e-320, 1e308})});
  graphs.push_back({"links of weight 0",
                    make_graph(4, {{0, 1}, {1, 2}, {1, 0}, {2, 0}, {3, 1}}, {0, 2, 0, 1, 1})});
  return graphs;
}

}  // namespace

EdgeList with_random_weights(EdgeList edges, unsigned seed) {
  std::mt19937_64 random(seed);
  edges.weights.resize(edges.entry_count());
  for (double& weight : edges.weights) weight = static_cast<double>(1 + random() % 997) / 64;
  return edges;
}

EdgeList tenth_dangling(const EdgeList& all) {
  EdgeList rest{.node_count = all.node_count};
  for (std::size_t k = 0; k < all.entry_count(); ++k) {
    if (all.sources[k] % 10 == 0) continue;
    rest.add_entry(SourceIndex::row, all.sources[k], all.targets[k]);
    if (!all.weights.empty()) rest.weights.push_back(all.weights[k]);
  }
  return rest;
}

EdgeList scrambled_graph(GraphKind kind, std::uint64_t nodes, EdgeIndex links, bool weighted) {
  return generate_graph(
      {.kind = kind, .nodes = nodes, .links = links, .scramble = true, .weighted = weighted});
}

EdgeList graph_of_row_lengths(NodeId nodes, const std::vector<std::size_t>& lengths,
                              unsigned seed) {
  std::mt19937_64 random(seed);
  EdgeList edges;
  edges.node_count = nodes;
  for (NodeId target = 0; target < nodes; ++target) {
    for (std::size_t k = 0; k < lengths[target % lengths.size()]; ++k) {
      edges.add_entry(SourceIndex::row, static_cast<NodeId>(random() % nodes), target);
    }
  }
  return edges;
}

const std::vector<NamedGraph>& graphs() {
  static const std::vector<NamedGraph> all = make_graphs();
  return all;
}

}  // namespace pagerank::tests
