#pragma once

#include <cstdint>
#include <vector>

#include "core/blocked_layout.hpp"
#include "core/scratch_memory.hpp"
#include "core/shared_array.hpp"
#include "core/types.hpp"

namespace pagerank {

/// A TransitionMatrix without weights whose links are laid out for the CPU engine's iterations, and
/// in no other way. The members are what those of a TransitionMatrix are.
struct BlockedMatrix {
  BlockedLayout in_links;
  SharedArray<double> inverse_out_weight;
  std::vector<NodeId> dangling;
  EdgeIndex distinct_links = 0;
  NodeId more_unlinked = 0;
  ScratchMemory partial_sums;  ///< For a group's, in memory that is at hand.

  [[nodiscard]] NodeId node_count() const { return in_links.node_count; }
  [[nodiscard]] std::uint64_t graph_node_count() const {
    return std::uint64_t{node_count()} + more_unlinked;
  }
  [[nodiscard]] EdgeIndex link_count() const { return in_links.sources.size(); }
};

}  // namespace pagerank
