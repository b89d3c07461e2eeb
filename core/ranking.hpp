#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace pagerank {

/// The nodes of the `depth` highest scores (all nodes by default), highest first; equal scores in
/// ascending order of node.
[[nodiscard]] std::vector<NodeId> rank_nodes(
    std::span<const double> scores, std::size_t depth = std::numeric_limits<std::size_t>::max());

}  // namespace pagerank
