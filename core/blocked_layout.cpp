#include "core/blocked_layout.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/blocked_layout_draft.hpp"
#include "core/prefetch.hpp"

namespace pagerank {
namespace {

constexpr std::uint32_t lengths = BlockedLayout::longest_run + 1;

/// Calls run(window, length, first_link) for each run of a row.
template <class Run>
void for_each_run(const CsrMatrix& links, NodeId row, int window_shift, Run run) {
  const EdgeIndex end = links.row_offsets[row + 1];
  for (EdgeIndex k = links.row_offsets[row]; k < end;) {
    const NodeId window = links.column_indices[k] >> window_shift;
    const EdgeIndex longest = std::min<EdgeIndex>(end, k + BlockedLayout::longest_run);
    EdgeIndex last = k + 1;
    while (last < longest && links.column_indices[last] >> window_shift == window) ++last;
    run(window, static_cast<std::uint32_t>(last - k), k);
    k = last;
  }
}

/// Counts the runs of rows [begin, end), those of for_each_run(), by window and length:
/// counts[window * lengths + length].
/// (Of length 0 it may count some, too.) Where runs begin cannot be foretold, so that is written
/// down first, of some links at a time and without a branch: the counting waits for nothing then.
void count_runs(const CsrMatrix& links, NodeId begin, NodeId end, int window_shift,
                std::uint32_t* counts) {
  constexpr std::size_t at_once = 2048;
  static_assert(at_once % BlockedLayout::longest_run == 0);
  std::array<std::uint8_t, at_once> begins;
  std::array<std::uint16_t, at_once + 1> places;
  const EdgeIndex* row = links.row_offsets.data() + begin;
  const EdgeIndex last = links.row_offsets[end];
  for (EdgeIndex first = *row; first < last;) {
    const std::size_t size = std::min<EdgeIndex>(at_once, last - first);
    const NodeId* const columns = links.column_indices.data() + first;
    begins[0] = 1;
    for (std::size_t k = 1; k < size; ++k) {
      begins[k] = ((columns[k] ^ columns[k - 1]) >> window_shift) != 0 ? 1 : 0;
    }
    for (; *row < first + size; ++row) begins[*row - first] = 1;
    std::size_t runs = 0;
    for (std::size_t k = 0; k < size; ++k) {
      places[runs] = static_cast<std::uint16_t>(k);
      runs += begins[k];
    }
    places[runs] = static_cast<std::uint16_t>(size);
    // The last may go on: it comes again, with the next links, unless it is all of these.
    if (first + size < last && runs > 1) --runs;
    for (std::size_t r = 0; r < runs; ++r) {
      std::uint32_t length = places[r + 1] - places[r];
      const std::size_t window = columns[places[r]] >> window_shift;
      std::uint32_t* const of_window = counts + window * lengths;
      if (length > BlockedLayout::longest_run) {
        of_window[BlockedLayout::longest_run] += length / BlockedLayout::longest_run;
        length %= BlockedLayout::longest_run;
      }
      ++of_window[length];
    }
    first += places[runs];
  }
}

class Builder {
 public:
  Builder(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes)
      : links_(links),
        weighted_(!links.values.empty()),
        narrow_(narrow),
        draft_({.nodes = links.row_count(), .links = links.element_count(), .weighted = weighted_},
               narrow, sizes) {
    draft_.cut_blocks([&](std::size_t row) { return links.row_offsets[row]; });
  }

  BlockedLayout build(ThreadTeam& team) {
    team.for_each(draft_.blocks().size(), [&](std::size_t b) {
      std::vector<std::uint32_t> counts(draft_.window_count() * lengths);
      count_runs(links_, draft_.blocks()[b].begin, draft_.blocks()[b].end, draft_.window_shift(),
                 counts.data());
      BlockedLayoutDraft::BlockShape shape;
      for (std::size_t w = 0; w < draft_.window_count(); ++w) {
        shape.add_segment(counts.data() + w * lengths);
      }
      draft_.place(b, std::move(shape));
      BlockedLayout& arrays = draft_.arrays();
      if (!weighted_) return fill<false>(b, counts, static_cast<float*>(nullptr));
      if (narrow_) return fill<true>(b, counts, arrays.narrow_values.data());
      fill<true>(b, counts, arrays.values.data());
    });
    return draft_.finish();
  }

 private:
  /// Where the next run of a length goes, in links and in `rows`.
  struct Cursor {
    EdgeIndex link, run;
  };

  /// Of a row block that has so many runs by window and length; the same way.
  [[nodiscard]] std::vector<Cursor> cursors_of(std::size_t b,
                                               const std::vector<std::uint32_t>& counts) {
    std::vector<Cursor> cursors(counts.size());
    const BlockedLayout::RowBlock& block = draft_.blocks()[b];
    Cursor at{block.first_link, block.first_row};
    for (std::size_t w = 0; w < draft_.window_count(); ++w) {
      const EdgeIndex begin = at.run;
      for (std::size_t i = w * lengths + 1; i < (w + 1) * lengths; ++i) {
        cursors[i] = at;
        at.link += EdgeIndex{i - w * lengths} * counts[i];
        at.run += counts[i];
      }
      const EdgeIndex end = begin + BlockedLayoutDraft::padded(at.run - begin);
      std::fill_n(draft_.arrays().rows.begin() + static_cast<std::ptrdiff_t>(at.run), end - at.run,
                  std::uint16_t{0});
      at.run = end;
    }
    return cursors;
  }

  /// Writes a row block's runs to their places, and their values to `values`, if there are any.
  template <bool weighted, class V>
  void fill(std::size_t b, const std::vector<std::uint32_t>& counts, V* values) {
    std::vector<Cursor> cursors = cursors_of(b, counts);
    const NodeId in_window = draft_.window_nodes() - 1;
    const NodeId* const columns = links_.column_indices.data();
    const double* const from = links_.values.data();
    std::uint16_t* const sources = draft_.arrays().sources.data();
    std::uint16_t* const rows = draft_.arrays().rows.data();
    const NodeId begin = draft_.blocks()[b].begin, end = draft_.blocks()[b].end;
    const int window_shift = draft_.window_shift();
    for (NodeId i = begin; i < end; ++i) {
      for_each_run(links_, i, window_shift, [&](NodeId window, std::uint32_t length, EdgeIndex k) {
        Cursor& next = cursors[std::size_t{window} * lengths + length];
        rows[next.run++] = static_cast<std::uint16_t>(i - begin);
        EdgeIndex to = next.link;
        prefetch_for_writing(rows + next.run);
        prefetch_for_writing(sources + to);
        if constexpr (weighted) prefetch_for_writing(values + to);
        next.link += length;
        for (const EdgeIndex last = k + length; k < last; ++k, ++to) {
          sources[to] = static_cast<std::uint16_t>(columns[k] & in_window);
          if constexpr (weighted) values[to] = static_cast<V>(from[k]);
        }
      });
    }
  }

  const CsrMatrix& links_;
  bool weighted_, narrow_;
  BlockedLayoutDraft draft_;
};

}  // namespace

BlockedLayout make_blocked_layout(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes,
                                  ThreadTeam& team) {
  return Builder(links, narrow, sizes).build(team);
}

std::uint32_t window_nodes(const BlockedSizes& sizes, bool narrow) {
  constexpr std::uint32_t most = 1 << 16;  // ids are of 16 bits
  const std::size_t of_z = narrow ? sizeof(float) : sizeof(double);
  return std::min(most, static_cast<std::uint32_t>(sizes.window_bytes / of_z));
}

}  // namespace pagerank
