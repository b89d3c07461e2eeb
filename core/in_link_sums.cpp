#include "core/in_link_sums.hpp"

namespace pagerank {

bool InLinkSums::worth_blocking(const TransitionMatrix& matrix, std::size_t) {
  return matrix.link_count() >= 1 << 20;
}

std::uint64_t InLinkSums::bytes(std::size_t value_bytes) const {
  const std::uint64_t links = matrix_.link_count(), nodes = matrix_.node_count();
  if (!blocked_) {
    return links * (sizeof(NodeId) + (matrix_.weighted() ? sizeof(double) : 0)) +
           nodes * (sizeof(EdgeIndex) + value_bytes);
  }
  return links * (sizeof(std::uint16_t) + (matrix_.weighted() ? value_bytes : 0)) +
         blocked_->rows.size() * (sizeof(std::uint16_t) + 2 * value_bytes) +
         blocked_->groups.size() * nodes * value_bytes;
}

}  // namespace pagerank
