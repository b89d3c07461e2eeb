#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace pagerank {

/// The nodes of the `depth` highest scores (all nodes by default), highest first; equal scores in
/// ascending order of node. For a depth that is far below the number of nodes this reads the scores
/// once or twice and orders few of them. `threads`: 0 for as many as OpenMP offers; the order is
/// the same for any number.
[[nodiscard]] std::vector<NodeId> rank_nodes(
    std::span<const double> scores, std::size_t depth = std::numeric_limits<std::size_t>::max(),
    int threads = 0);

}  // namespace pagerank
