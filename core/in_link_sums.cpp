#include "core/in_link_sums.hpp"

#include <algorithm>
#include <utility>

namespace pagerank {

InLinkSums::InLinkSums(CsrMatrix links, const LayoutWish& wish, const PlainSizes& plain_sizes,
                       ThreadTeam& team)
    : links_(std::move(links)),
      weighted_(!links_.values.empty()),
      narrow_(wish.narrow),
      plain_sizes_(plain_sizes),
      team_(team) {
  const CpuLayout layout = choose_layout(links_.row_count(), links_.element_count(), wish,
                                         [this] { return LinkSample(links_); });
  if (layout == CpuLayout::blocked) lay_out(wish.sizes);
}

InLinkSums::InLinkSums(BlockedLayout links, bool narrow, ScratchMemory partial_sums,
                       ThreadTeam& team)
    : weighted_(false),
      narrow_(narrow),
      team_(team),
      blocked_(std::move(links)),
      partials_(std::move(partial_sums)) {}

void InLinkSums::lay_out(const BlockedSizes& sizes) {
  blocked_ = make_blocked_layout(links_, narrow_, sizes, team_);
  if (!exactly_blocked()) return;
  partials_ = ScratchMemory(links_.column_indices.take());
  partials_.shrink(std::max(blocked_->sizes.group_bytes, blocked_->bytes_of_partials(narrow_)));
  links_ = {};
}

std::uint64_t InLinkSums::bytes(std::size_t value_bytes) const {
  if (!blocked_) {
    return links_.element_count() * (sizeof(NodeId) + (weighted_ ? sizeof(double) : 0)) +
           std::uint64_t{links_.row_count()} * (sizeof(EdgeIndex) + value_bytes);
  }
  return blocked_->sources.size() * (sizeof(std::uint16_t) + (weighted_ ? value_bytes : 0)) +
         blocked_->rows.size() * (sizeof(std::uint16_t) + 2 * value_bytes) +
         blocked_->groups.size() * blocked_->node_count * value_bytes;
}

}  // namespace pagerank
