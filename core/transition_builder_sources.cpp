// The second distribution: by source, and on to bins of targets.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/packed_links.hpp"
#include "core/piecewise_sum.hpp"
#include "core/prefetch.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {
namespace {

/// What the weights of one source's links are divided by: their sum.
struct OutWeight {
  double sum = 0;
  bool scaled = false;  ///< It is beyond double, and all has to be scaled down.

  [[nodiscard]] bool is_zero() const { return sum == 0; }
  [[nodiscard]] double scale(double weight) const {
    constexpr int overflow_bits = 64;  // fewer than 2^64 weights are added
    return scaled ? std::ldexp(weight, -overflow_bits) : weight;
  }
};

/// Of the weights that for_each(visit) visits, in order. The sum is compensated: the certificate of
/// a result takes the matrix for exact to a few units roundoff, whatever the out-degrees.
template <class ForEach>
OutWeight out_weight_of(ForEach for_each) {
  PiecewiseSum sum;
  for_each([&](double weight) { sum.add(weight); });
  if (std::isfinite(sum.value())) return {.sum = sum.value()};
  OutWeight out_weight{.scaled = true};
  PiecewiseSum scaled;
  for_each([&](double weight) { scaled.add(out_weight.scale(weight)); });
  out_weight.sum = scaled.value();
  return out_weight;
}

/// Divides the weights of one source's links by their sum, unless that is 0, and returns whether it
/// is.
bool divide_by_sum(std::span<double> weights) {
  const OutWeight out_weight = out_weight_of([&](auto visit) {
    for (const double weight : weights) visit(weight);
  });
  if (out_weight.is_zero()) return true;
  if (out_weight.scaled) {
    for (double& weight : weights) weight = out_weight.scale(weight);
  }
  for (double& weight : weights) weight /= out_weight.sum;
  return false;
}

/// Of a node with so many links, `none` of which has a weight: their elements are divided already
/// if they have weights.
template <bool weighted>
double inverse_of(bool none, EdgeIndex out_links) {
  if (none) return 0;
  return weighted ? 1 : 1 / static_cast<double>(out_links);
}

}  // namespace

/// Calls visit(link, the links it is one of, its place there) for each link of a bin of sources, in
/// the order of the entries.
template <bool wide, class Visit>
void TransitionMatrixBuilder::for_each_link_of(std::size_t bin, Visit visit) const {
  for (const Piece& piece : pieces_) {
    if (piece.bin_begin.empty()) continue;
    const EdgeIndex begin = piece.begin(bin, source_parts_), end = begin + piece.size(bin);
    for (EdgeIndex l = begin; l < end; ++l) {
      visit(load_link<wide>(piece.links, l), piece.links, l);
    }
  }
}

/// Gathers the links of a bin of sources, at most about `most` at a time, which gives the
/// out-weights, and hands them on in order of bins of targets and, within these, of sources.
template <bool wide, bool weighted>
void TransitionMatrixBuilder::distribute_by_target(std::size_t bin, EdgeIndex most,
                                                   const Links& scratch, Draft& matrix,
                                                   std::vector<NodeId>& dangling, Second& second) {
  const int node_bits = node_bits_;
  const std::size_t bins = target_bins_.count(), nodes = source_bins_.size(bin);
  const std::size_t first_node = source_bins_.begin(bin);
  const std::uint64_t node_mask = (std::uint64_t{1} << node_bits) - 1;
  const std::uint64_t first_source = first_node - source_bins_.base(bin);

  std::vector<EdgeIndex> next_of_source(nodes, 0);
  std::vector<EdgeIndex> next_of_target_bin(bins, 0);
  // What loops over links need by value: they would load it again after each store.
  EdgeIndex* const next_source = next_of_source.data();
  target_bins_.with_bin_of([=, this, next = next_of_target_bin.data()](auto bin_of) {
    this->for_each_link_of<wide>(bin, [=](std::uint64_t link, const Links&, EdgeIndex) {
      ++next_source[(link >> node_bits) - first_source];
      ++next[bin_of(static_cast<NodeId>(link & node_mask))];
    });
  });
  const EdgeIndex links = counts_to_begins<EdgeIndex>(next_of_source, 0);
  for (std::size_t target_bin = 0; target_bin < bins;) {
    const std::uint8_t part = second.part_of_bin[target_bin];
    const std::size_t first = target_bin;
    while (target_bin < bins && second.part_of_bin[target_bin] == part) ++target_bin;
    const std::span to_part = std::span(next_of_target_bin).subspan(first, target_bin - first);
    const EdgeIndex count = std::accumulate(to_part.begin(), to_part.end(), EdgeIndex{0});
    const EdgeIndex place = count == 0 ? 0 : second.arena.take(second.lots[part], count);
    EdgeIndex* const begins = second.table.run(bin, first);
    begins[to_part.size()] = counts_to_begins<EdgeIndex>(to_part, place);
    std::copy(to_part.begin(), to_part.end(), begins);
  }
  const Links to = second.arena.links();

  const auto begin_of = [&](std::size_t source) {  // before its links are gathered
    return source < nodes ? next_of_source[source] : links;
  };
  for (std::size_t first = 0, last = 0; first < nodes; first = last) {
    last = first + 1;
    const EdgeIndex begin = begin_of(first);
    while (last < nodes && begin_of(last + 1) - begin <= most) ++last;
    const EdgeIndex count = begin_of(last) - begin;
    if (count > most) {
      const bool none = distribute_hub<wide, weighted>(bin, first_source + first, most, scratch, to,
                                                       next_of_target_bin);
      matrix.inverse_out_weight[first_node + first] = inverse_of<weighted>(none, count);
      if (none) dangling.push_back(static_cast<NodeId>(first_node + first));
      continue;
    }
    const Links by_source = scratch;
    const auto gather = [=](std::uint64_t link, const Links& from, EdgeIndex l) {
      const EdgeIndex slot = next_source[(link >> node_bits) - first_source]++ - begin;
      store_link<wide>(by_source, slot, link);
      if constexpr (weighted) by_source.weights[slot] = from.weights[l];
    };
    if (count == links) {
      for_each_link_of<wide>(bin, gather);
    } else {
      const std::uint64_t first_of_some = first_source + first;
      for_each_link_of<wide>(bin, [=](std::uint64_t link, const Links& from, EdgeIndex l) {
        if ((link >> node_bits) - first_of_some < last - first) gather(link, from, l);
      });
    }
    EdgeIndex at = 0;
    for (std::size_t i = first; i < last; ++i) {
      const EdgeIndex out_links = next_of_source[i] - begin - at;
      bool none = out_links == 0;
      if constexpr (weighted) none = divide_by_sum({by_source.weights + at, out_links});
      matrix.inverse_out_weight[first_node + i] = inverse_of<weighted>(none, out_links);
      if (none) dangling.push_back(static_cast<NodeId>(first_node + i));
      at += out_links;
    }
    hand_on<wide, weighted>(by_source, count, to, next_of_target_bin);
  }
}

/// The same for the links of one source, which are in order as they are. Returns whether their
/// weights add up to 0.
template <bool wide, bool weighted>
bool TransitionMatrixBuilder::distribute_hub(std::size_t bin, std::size_t source, EdgeIndex most,
                                             const Links& scratch, const Links& to,
                                             std::vector<EdgeIndex>& next_of_target_bin) {
  const int node_bits = node_bits_;
  OutWeight out_weight;
  if constexpr (weighted) {
    out_weight = out_weight_of([&](auto visit) {
      for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links& from, EdgeIndex l) {
        if (link >> node_bits == source) visit(from.weights[l]);
      });
    });
  }
  const Links& gathered = scratch;
  EdgeIndex count = 0;
  for_each_link_of<wide>(bin, [&](std::uint64_t link, const Links& from, EdgeIndex l) {
    if (link >> node_bits != source) return;
    store_link<wide>(gathered, count, link);
    if constexpr (weighted) {
      const double weight = from.weights[l];
      gathered.weights[count] =
          out_weight.is_zero() ? weight : out_weight.scale(weight) / out_weight.sum;
    }
    if (++count < most) return;
    hand_on<wide, weighted>(gathered, std::exchange(count, 0), to, next_of_target_bin);
  });
  hand_on<wide, weighted>(gathered, count, to, next_of_target_bin);
  return weighted && out_weight.is_zero();
}

/// Writes links that are in order of sources to where their bins of targets go on.
template <bool wide, bool weighted>
void TransitionMatrixBuilder::hand_on(const Links& links, EdgeIndex count, const Links& to,
                                      std::vector<EdgeIndex>& next_of_target_bin) {
  const int shift = shift_, node_bits = node_bits_;
  const std::uint64_t node_mask = (std::uint64_t{1} << node_bits) - 1;
  const std::uint64_t key_mask = (std::uint64_t{1} << shift) - 1;
  EdgeIndex* const next = next_of_target_bin.data();
  target_bins_.with_bin_of([=](auto bin_of) {
    for (EdgeIndex l = 0; l < count; ++l) {
      const std::uint64_t link = load_link<wide>(links, l);
      const std::uint64_t target = link & node_mask, source_in_bin = link >> node_bits;
      const EdgeIndex slot = next[bin_of(static_cast<NodeId>(target))]++;
      prefetch_for_writing(to.low + slot);
      to.low[slot] = static_cast<std::uint32_t>((target & key_mask) << shift | source_in_bin);
      if constexpr (weighted) {
        prefetch_for_writing(to.weights + slot);
        to.weights[slot] = links.weights[l];
      }
    }
  });
}

#define PAGERANK_INSTANTIATE(wide, weighted)                                   \
  template void TransitionMatrixBuilder::distribute_by_target<wide, weighted>( \
      std::size_t, EdgeIndex, const Links&, Draft&, std::vector<NodeId>&, Second&);
PAGERANK_INSTANTIATE(false, false)
PAGERANK_INSTANTIATE(false, true)
PAGERANK_INSTANTIATE(true, false)
PAGERANK_INSTANTIATE(true, true)
#undef PAGERANK_INSTANTIATE

}  // namespace pagerank
