#include "core/ranking.hpp"

#include <algorithm>
#include <numeric>

namespace pagerank {

std::vector<NodeId> rank_nodes(std::span<const double> scores, std::size_t depth) {
  std::vector<NodeId> order(scores.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  const auto ahead = [scores](NodeId a, NodeId b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  if (depth < order.size()) {
    const auto cut = order.begin() + static_cast<std::ptrdiff_t>(depth);
    std::nth_element(order.begin(), cut, order.end(), ahead);
    order.resize(depth);
  }
  std::sort(order.begin(), order.end(), ahead);
  return order;
}

}  // namespace pagerank
