// Which layout suits links that are in bins of targets.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/packed_links.hpp"
#include "core/parallel.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {

/// Fills in what the sample is to have of a bin.
void TransitionMatrixBuilder::sample_bin(const BinsOfTargets& bins, std::size_t bin,
                                         LinkSample& sample) const {
  struct Stretch {
    std::size_t index;
    EdgeIndex first, begin, end;  ///< The first link, and those in the bin.
  };
  std::vector<Stretch> stretches;
  for (std::size_t s = 0; s < LinkSample::stretches; ++s) {
    const EdgeIndex first = LinkSample::begin(s, bins.links());
    const EdgeIndex begin = std::max(bins.begins[bin], first),
                    end = std::min(bins.begins[bin + 1], first + LinkSample::length);
    if (begin < end) stretches.push_back({s, first, begin, end});
  }
  if (stretches.empty()) return;

  std::vector<EdgeIndex> row_begin(target_bins_.size(bin) + std::size_t{1}, 0);
  for_each_link_to(bins.second, bin, [&](std::uint32_t row, NodeId) { ++row_begin[row]; });
  counts_to_begins<EdgeIndex>(row_begin, bins.begins[bin]);
  // The stretch that a row's next link may be in.
  constexpr std::uint8_t none = 0xff;
  std::vector<std::uint8_t> stretch_of_row(target_bins_.size(bin), none);
  for (std::size_t s = stretches.size(); s-- > 0;) {
    const auto row_of = [&](EdgeIndex link) {
      return std::upper_bound(row_begin.begin(), row_begin.end(), link) - row_begin.begin() - 1;
    };
    std::fill(stretch_of_row.begin() + row_of(stretches[s].begin),
              stretch_of_row.begin() + row_of(stretches[s].end - 1) + 1,
              static_cast<std::uint8_t>(s));
  }
  std::vector<EdgeIndex> next = row_begin;
  for_each_link_to(bins.second, bin, [&](std::uint32_t row, NodeId source) {
    std::uint8_t& s = stretch_of_row[row];
    if (s == none) return;
    const EdgeIndex place = next[row]++;
    if (place < stretches[s].begin) return;
    const Stretch& stretch = stretches[s];
    sample.link(stretch.index, place - stretch.first) = {source, place == row_begin[row]};
    if (place + 1 == stretch.end) {
      s = s + std::size_t{1} == stretches.size() ? none : static_cast<std::uint8_t>(s + 1);
    }
  });
}

/// The layout that suits the matrix. Not the blocked one if links of some row blocks might be too
/// many for 32 bits, where those of long rows count twice.
CpuLayout TransitionMatrixBuilder::choose(const BinsOfTargets& bins, const LayoutWish& wish,
                                          int threads) const {
  if (wish.layout == CpuLayout::plain || shape_.node_count == 0) return CpuLayout::plain;
  EdgeIndex largest = 0, in_base = 0;
  for (std::size_t bin = 0; bin < target_bins_.count(); ++bin) {
    if (target_bins_.begin(bin) == target_bins_.base(bin)) in_base = bins.begins[bin];
    largest =
        std::max(largest, bins.begins[bin + 1] - in_base);  // of 2^shift_ nodes, halved or not
  }
  // Of row blocks that have too many links and are not halved.
  const std::size_t bins_at_once = (2 * std::size_t{wish.sizes.least_rows} >> shift_) + 1;
  if (largest >> 31 != 0 || largest * bins_at_once >> 31 != 0) return CpuLayout::plain;
  return choose_layout(shape_.node_count, bins.links(), wish, [&] {
    LinkSample sample;
    parallel_for(target_bins_.count(), threads,
                 [&](std::size_t bin) { sample_bin(bins, bin, sample); });
    return sample;
  });
}

}  // namespace pagerank
