// The first distribution: of each piece, by bins of sources.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/packed_links.hpp"
#include "core/prefetch.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {
namespace {

/// Calls visit(source, target, entry) for each directed link of the entries, in order.
template <class Visit>
void for_each_link(std::span<const NodeId> sources, std::span<const NodeId> targets,
                   bool undirected, Visit visit) {
  if (!undirected) {
    for (std::size_t e = 0; e < sources.size(); ++e) visit(sources[e], targets[e], e);
    return;
  }
  for (std::size_t e = 0; e < sources.size(); ++e) {
    visit(sources[e], targets[e], e);
    if (sources[e] != targets[e]) visit(targets[e], sources[e], e);
  }
}

}  // namespace

/// Cuts bins and parts by some links of the piece that comes first, whichever that is.
void TransitionMatrixBuilder::look_at(std::span<const NodeId> sources,
                                      std::span<const NodeId> targets) {
  constexpr std::size_t most = 1 << 14;
  const std::size_t step = sources.size() / most + 1;
  std::vector<NodeId> some_sources, some_targets;
  for (std::size_t e = 0; e < sources.size(); e += step) {
    for_each_link(sources.subspan(e, 1), targets.subspan(e, 1), shape_.undirected,
                  [&](NodeId source, NodeId target, std::size_t) {
                    some_sources.push_back(source);
                    some_targets.push_back(target);
                  });
  }
  const auto to_each = [](const NodeBins& bins, const std::vector<NodeId>& nodes) {
    std::vector<std::uint32_t> counts(bins.count(), 0);
    for (const NodeId node : nodes) ++counts[bins.bin_of(node)];
    return counts;
  };
  source_bins_ = NodeBins(shape_.node_count, shift_, some_sources);
  target_bins_ = NodeBins(shape_.node_count, shift_, some_targets);
  source_parts_ = cut_into_parts(to_each(source_bins_, some_sources), shape_.expected_links());
  target_sample_ = to_each(target_bins_, some_targets);
}

void TransitionMatrixBuilder::add(std::size_t piece, std::span<const NodeId> sources,
                                  std::span<const NodeId> targets,
                                  std::span<const double> weights) {
  if (sources.empty()) return;  // comments, perhaps many of them
  std::call_once(looked_, [&] { look_at(sources, targets); });
  Piece sorted;
  with_constants(wide(), shape_.weighted, [&](auto wide, auto weighted) {
    add_links<wide, weighted>(sorted, sources, targets, weights);
  });
  const std::lock_guard lock(mutex_);
  if (pieces_.size() <= piece) pieces_.resize(piece + 1);
  pieces_[piece] = std::move(sorted);
}

template <bool wide, bool weighted>
void TransitionMatrixBuilder::add_links(Piece& piece, std::span<const NodeId> sources,
                                        std::span<const NodeId> targets,
                                        std::span<const double> weights) {
  const int node_bits = node_bits_;
  const std::size_t bins = source_bins_.count();
  std::vector<std::uint32_t> next(bins + 1, 0);
  // In two tables in turns: links of the same bin would wait for each other.
  std::vector<std::uint32_t> other(next.size(), 0);
  // Loops over links have what they need by value: they would load it again after each store.
  const bool undirected = shape_.undirected;
  source_bins_.with_bin_of([=, &next, &other](auto bin_of) {
    std::uint32_t *one = next.data(), *two = other.data();
    for_each_link(sources, targets, undirected, [=](NodeId source, NodeId, std::size_t) mutable {
      ++one[bin_of(source)];
      std::swap(one, two);
    });
  });
  std::transform(next.begin(), next.end(), other.begin(), next.begin(), std::plus<>());
  const std::uint32_t links = counts_to_begins<std::uint32_t>(next, 0);
  links_ += links;
  piece.bin_begin = std::move(next);
  if (!take_memory(piece)) take_own_memory(piece, links);
  std::vector<EdgeIndex> next_place(bins);
  for (std::size_t bin = 0; bin < bins; ++bin) next_place[bin] = piece.begin(bin, source_parts_);
  const Links to = piece.links;
  const std::uint64_t key_mask = (std::uint64_t{1} << shift_) - 1;
  source_bins_.with_bin_of([=, next = next_place.data()](auto bin_of) {
    for_each_link(sources, targets, undirected,
                  [=](NodeId source, NodeId target, std::size_t entry) {
                    const EdgeIndex slot = next[bin_of(source)]++;
                    prefetch_for_writing(to.low + slot);
                    store_link<wide>(to, slot, (source & key_mask) << node_bits | target);
                    if constexpr (weighted) {
                      prefetch_for_writing(to.weights + slot);
                      to.weights[slot] = weights[entry];
                    }
                  });
  });
}

/// Of the arena, if the second distribution will find enough there: the piece may need a new slab
/// for each part, and so may that. Returns false if not.
bool TransitionMatrixBuilder::take_memory(Piece& piece) {
  if (!arena_) return false;
  // A slab for each part is no more than eight times what has come.
  if (shape_.only_claimed && links_ < lots_.size() * LinkArena::slab_links(wide()) / 8) {
    return false;
  }
  const std::uint32_t links = piece.bin_begin.back();
  const std::lock_guard lock(mutex_);
  if (!arena_->has_room(shape_.expected_links() + links, 2 * lots_.size())) return false;
  piece.links = arena_->links();
  piece.part_offset.reserve(source_parts_.count);
  for (std::size_t part = 0, bin = 0; part < source_parts_.count; ++part) {
    const std::uint32_t begin = piece.bin_begin[bin];
    while (bin < source_bins_.count() && source_parts_.of_bin[bin] == part) ++bin;
    const std::uint32_t count = piece.bin_begin[bin] - begin;
    const EdgeIndex place = count == 0 ? 0 : arena_->take(lots_[part], count);
    piece.part_offset.push_back(place - begin);
  }
  return true;
}

void TransitionMatrixBuilder::take_own_memory(Piece& piece, std::uint32_t links) const {
  piece.own_low.resize(links);
  piece.own_high.resize(wide() ? links : 0);
  piece.own_weights.resize(shape_.weighted ? links : 0);
  piece.links = {.low = piece.own_low.data(),
                 .high = piece.own_high.data(),
                 .weights = piece.own_weights.data()};
  piece.part_offset.assign(source_parts_.count, 0);
}

}  // namespace pagerank
