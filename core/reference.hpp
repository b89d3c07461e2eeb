#pragma once

#include <vector>

#include "core/edge_list.hpp"

namespace pagerank {

/// PageRank straight from the list of links, written to be checked by reading: one thread, no
/// matrix, no stop rule but a change below 1e-16 (or 100 000 iterations). Dangling mass is spread
/// uniformly. Tests hold every engine against it.
[[nodiscard]] std::vector<double> reference_pagerank(const EdgeList& edges, double alpha = 0.85);

}  // namespace pagerank
