// The third distribution: by target, into the rows of the matrix.
#include <algorithm>
#include <utility>

#include "core/packed_links.hpp"
#include "core/parallel.hpp"
#include "core/piecewise_sum.hpp"
#include "core/prefetch.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {

/// Gathers the links of a bin of targets and sorts them into their rows, which begin at `begin`.
/// Weighted links of the same two nodes are added up, in order. Returns how many different ones
/// there are.
template <bool weighted>
EdgeIndex TransitionMatrixBuilder::sort_rows(std::size_t bin, EdgeIndex begin, const Second& second,
                                             Draft& matrix) {
  const int shift = shift_;
  const std::size_t nodes = target_bins_.size(bin), first_node = target_bins_.begin(bin);
  const std::uint32_t first_target = target_bins_.begin(bin) - target_bins_.base(bin);
  const std::uint32_t key_mask = (std::uint32_t{1} << shift) - 1;
  const Links from = second.arena.links();
  const auto for_each = [&](auto visit) {  // (target in its bin, source, its place in the arena)
    for (std::size_t source_bin = 0; source_bin < source_bins_.count(); ++source_bin) {
      const EdgeIndex* const run = second.table.run(source_bin, bin);
      const EdgeIndex end = run[1];
      const NodeId base = source_bins_.base(source_bin);
      for (EdgeIndex l = run[0]; l < end; ++l) {
        visit((from.low[l] >> shift) - first_target, base + (from.low[l] & key_mask), l);
      }
    }
  };

  std::vector<EdgeIndex> next(nodes, 0);
  for_each([&](std::uint32_t target, NodeId, EdgeIndex) { ++next[target]; });
  const EdgeIndex end = counts_to_begins<EdgeIndex>(next, begin);
  EdgeIndex* const row_offsets = matrix.in_links.row_offsets.data() + first_node;
  std::copy(next.begin(), next.end(), row_offsets);
  NodeId* const columns = matrix.in_links.column_indices.data();
  double* const values = matrix.in_links.values.data();
  for_each([&](std::uint32_t target, NodeId source, EdgeIndex l) {
    const EdgeIndex slot = next[target]++;
    prefetch_for_writing(columns + slot);
    columns[slot] = source;
    if constexpr (weighted) {
      prefetch_for_writing(values + slot);
      values[slot] = from.weights[l];
    }
  });

  EdgeIndex repeats = 0;
  for (EdgeIndex k = begin; k + 1 < end; ++k) repeats += columns[k] == columns[k + 1];
  for (std::size_t row = 0; row < nodes && repeats > 0; ++row) {
    const EdgeIndex at = row_offsets[row];  // neighbours of different rows do not count
    repeats -= at > begin && at < end && next[row] > at && columns[at] == columns[at - 1];
  }
  if (!weighted || repeats == 0) return end - begin - repeats;

  EdgeIndex slot = begin;
  for (std::size_t row = 0; row < nodes; ++row) {
    EdgeIndex k = std::exchange(row_offsets[row], slot);
    while (k < next[row]) {
      const NodeId column = columns[k];
      double value = values[k++];
      if (k < next[row] && columns[k] == column) {  // few are there again
        PiecewiseSum sum;
        sum.add(value);
        for (; k < next[row] && columns[k] == column; ++k) sum.add(values[k]);
        value = sum.value();
      }
      columns[slot] = column;
      values[slot++] = value;
    }
  }
  return slot - begin;
}

/// A bin is sorted. Moves the rows of this and others, while they are in some cache, to behind
/// those of the bin before, unless they lie there.
void TransitionMatrixBuilder::close_gaps(Gaps& gaps, std::size_t bin, EdgeIndex distinct,
                                         Draft& matrix) const {
  std::unique_lock lock(gaps.mutex);
  gaps.sorted[bin] = distinct;
  if (std::exchange(gaps.closing, true)) return;  // who is at it will see to this bin, too
  auto& in_links = matrix.in_links;
  while (gaps.next < gaps.sorted.size() && gaps.sorted[gaps.next] != Gaps::unknown) {
    const std::size_t next = gaps.next++;
    const EdgeIndex from = gaps.begins[next], size = gaps.sorted[next];
    const EdgeIndex to = std::exchange(gaps.end, gaps.end + size);
    if (from == to) continue;
    lock.unlock();
    NodeId* const columns = in_links.column_indices.data();
    std::copy(columns + from, columns + from + size, columns + to);
    double* const values = in_links.values.data();
    std::copy(values + from, values + from + size, values + to);
    for (NodeId row = target_bins_.begin(next); row < target_bins_.end(next); ++row) {
      in_links.row_offsets[row] -= from - to;
    }
    lock.lock();
  }
  gaps.closing = false;
}

template EdgeIndex TransitionMatrixBuilder::sort_rows<false>(std::size_t, EdgeIndex, const Second&,
                                                             Draft&);
template EdgeIndex TransitionMatrixBuilder::sort_rows<true>(std::size_t, EdgeIndex, const Second&,
                                                            Draft&);

}  // namespace pagerank
