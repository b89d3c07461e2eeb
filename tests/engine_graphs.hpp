#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/edge_list.hpp"
#include "core/graph_generator.hpp"

namespace pagerank::tests {

struct NamedGraph {
  std::string name;
  EdgeList edges;
};

/// A graph whose node i has in-degree lengths[i % lengths.size()], sources at random.
EdgeList graph_of_row_lengths(NodeId nodes, const std::vector<std::size_t>& lengths, unsigned seed);

EdgeList with_random_weights(EdgeList edges, unsigned seed);

/// The graph without the links of every tenth node.
EdgeList tenth_dangling(const EdgeList& all);

/// A generated graph whose nodes are numbered at random.
EdgeList scrambled_graph(GraphKind kind, std::uint64_t nodes, EdgeIndex links,
                         bool weighted = false);

/// Graphs of every shape that engines and kernels treat apart, with weights and without.
const std::vector<NamedGraph>& graphs();

}  // namespace pagerank::tests
