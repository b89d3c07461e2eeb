#pragma once

#include <vector>

#include "core/edge_list.hpp"

namespace pagerank {

/// PageRank straight from the list of links, written to be checked by reading: one thread, no
/// matrix, no stop rule but so many iterations that the error is below 1e-17. Dangling mass is
/// spread uniformly. Tests hold every engine against it.
[[nodiscard]] std::vector<double> reference_pagerank(const EdgeList& edges, double alpha = 0.85);

}  // namespace pagerank
