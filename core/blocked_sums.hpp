#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/blocked_layout.hpp"
#include "core/cache_lines.hpp"
#include "core/prefetch.hpp"

namespace pagerank {

namespace detail {

template <bool weighted, class T, class V>
T term(const T* window, const std::uint16_t* ids, const V* values, std::size_t k) {
  if constexpr (weighted) return window[ids[k]] * static_cast<T>(values[k]);
  return window[ids[k]];
}

/// Sums of `runs` runs of a length known to the compiler.
template <std::size_t length, bool weighted, class T, class V>
void sum_short_runs(const T* window, const std::uint16_t* ids, const V* values, std::size_t runs,
                    T* sums) {
  constexpr std::size_t at_once = std::max<std::size_t>(1, 32 / length);  // about a line of ids
  const auto sum_one = [&] {
    T sum = term<weighted>(window, ids, values, 0);
    for (std::size_t k = 1; k < length; ++k) sum += term<weighted>(window, ids, values, k);
    *sums++ = sum;
    ids += length;
    if constexpr (weighted) values += length;
  };
  std::size_t left = runs;
  for (; left >= at_once; left -= at_once) {
    prefetch_ahead(ids);
    if constexpr (weighted) prefetch_ahead(values);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < at_once; ++i) sum_one();
  }
  for (; left > 0; --left) sum_one();
}

/// Runs of any length: eights in T, pair by pair, and their sums in double. Equal terms, a hub's
/// leaves perhaps, would all be rounded the same way one after the other.
template <bool weighted, class T, class V>
void sum_long_runs(const T* window, const std::uint16_t* ids, const V* values, std::size_t length,
                   std::size_t runs, T* sums) {
  for (std::size_t r = 0; r < runs; ++r) {
    prefetch_ahead(ids);
    prefetch_ahead(ids + 32);
    if constexpr (weighted) prefetch_ahead(values);
    const auto at = [&](std::size_t k) { return term<weighted>(window, ids, values, k); };
    double sum = 0;
    std::size_t k = 0;
    for (; k + 8 <= length; k += 8) {
      sum += ((at(k) + at(k + 1)) + (at(k + 2) + at(k + 3))) +
             ((at(k + 4) + at(k + 5)) + (at(k + 6) + at(k + 7)));
    }
    T rest = 0;
    for (; k < length; ++k) rest += at(k);
    sums[r] = static_cast<T>(sum + rest);
    ids += length;
    if constexpr (weighted) values += length;
  }
}

template <bool weighted, class T, class V>
void sum_runs(const T* window, const std::uint16_t* ids, const V* values,
              BlockedLayout::RunClass of, T* sums) {
  switch (of.length) {
    case 1:
      return sum_short_runs<1, weighted>(window, ids, values, of.runs, sums);
    case 2:
      return sum_short_runs<2, weighted>(window, ids, values, of.runs, sums);
    case 3:
      return sum_short_runs<3, weighted>(window, ids, values, of.runs, sums);
    case 4:
      return sum_short_runs<4, weighted>(window, ids, values, of.runs, sums);
    case 5:
      return sum_short_runs<5, weighted>(window, ids, values, of.runs, sums);
    case 6:
      return sum_short_runs<6, weighted>(window, ids, values, of.runs, sums);
    case 7:
      return sum_short_runs<7, weighted>(window, ids, values, of.runs, sums);
    case 8:
      return sum_short_runs<8, weighted>(window, ids, values, of.runs, sums);
    default:
      return sum_long_runs<weighted>(window, ids, values, of.length, of.runs, sums);
  }
}

static_assert(BlockedLayout::padded_to % in_step == 0);

/// Single links, a multiple of in_step: straight from where they are gathered to their place.
template <bool weighted, bool past_caches, class T, class V>
void move_single_links(const T* window, const std::uint16_t* ids, const V* values,
                       std::size_t links, T* to) {
  for (std::size_t i = 0; i < links; i += in_step) {
    prefetch_ahead(ids + i);
    if constexpr (weighted) prefetch_ahead(values + i);
    for (std::size_t k = i; k < i + in_step; k += 4) {
      const std::array<std::uint16_t, 4> four = four_ids(ids + k);
      write_four<past_caches>(to + k, [&](std::size_t j) {
        return term<weighted>(window, four.data(), values + (weighted ? k : 0), j);
      });
    }
  }
}

}  // namespace detail

/// Multiplies by the 0/1 structure of a BlockedLayout, or by its values. Both passes are over some
/// neighbouring row blocks of a group.
template <class T>
class BlockedSums {
 public:
  struct Blocks {
    const BlockedLayout::Group& group;
    std::size_t first, last;  ///< The latter is no longer one of them.
  };

  /// `partials`: for the runs of the blocks, at a cache line.
  BlockedSums(const BlockedLayout& layout, const Blocks& blocks, T* partials)
      : layout_(layout),
        blocks_(blocks),
        first_run_(layout.blocks[blocks.first].first_run),
        past_caches_((layout.blocks[blocks.last - 1].last_run - first_run_) * sizeof(T) >
                     layout.sizes.streamed_bytes),
        partials_(partials) {}

  /// The first pass: partial sums of the blocks' runs of z.
  template <bool weighted, class V>
  void gather(const T* z, const V* values, ThreadTeam& team) {
    const BlockedLayout::Group& group = blocks_.group;
    const std::size_t in_group = group.last_block - group.first_block;
    team.for_each(group.last_task - group.first_task, [&](std::size_t t) {
      const std::size_t task = group.first_task + t;
      std::size_t window = layout_.tasks[task] / in_group;
      std::size_t block = group.first_block + layout_.tasks[task] % in_group;
      for (std::size_t pair = layout_.tasks[task]; pair < layout_.tasks[task + 1]; ++pair) {
        if (block >= blocks_.first && block < blocks_.last) {
          gather_segment<weighted>(layout_.segment_of(block, window),
                                   z + window * layout_.window_nodes, values);
        }
        if (++block < group.last_block) continue;
        block = group.first_block;
        ++window;
      }
      if (past_caches_) detail::end_writing_past_caches();
    });
  }

  /// The second pass: calls body(block, begin, end, y) for each of the row blocks, y[i] being the
  /// sum of row begin + i. Accumulator is what a row's partial sums are added up with.
  template <class Accumulator, class Body>
  void combine(ThreadTeam& team, Body& body) {
    team.for_each(blocks_.last - blocks_.first, [&](std::size_t b) {
      thread_local std::vector<Accumulator> y;  // kept: its pages are there
      const BlockedLayout::RowBlock& block = layout_.blocks[blocks_.first + b];
      y.assign(block.end - block.begin, Accumulator{});
      add_partials(partials_ + (block.first_run - first_run_),
                   layout_.rows.data() + block.first_row, block.last_run - block.first_run,
                   y.data());
      body(blocks_.first + b, block.begin, block.end, y.data());
    });
  }

 private:
  template <bool weighted, class V>
  void gather_segment(std::size_t s, const T* window, const V* values) const {
    constexpr std::uint32_t at_once = 512;
    alignas(64) T buffer[at_once];
    std::uint32_t filled = 0;
    T* to = partials_ + (layout_.segments[s].first_run - first_run_);
    const auto flush = [&] {
      if (past_caches_) {
        detail::copy_past_caches(buffer, filled, to);
      } else {
        std::copy_n(buffer, filled, to);
      }
      to += filled;
      filled = 0;
    };
    const std::uint16_t* const ids = layout_.sources.data();
    EdgeIndex link = layout_.segments[s].first_link;
    for (std::size_t c = layout_.segments[s].first_class; c < layout_.segments[s + 1].first_class;
         ++c) {
      BlockedLayout::RunClass some = layout_.classes[c];
      if (some.length == 1) {  // the first class: no lengths of many runs gain as much by it
        const std::uint32_t singles = some.runs / detail::in_step * detail::in_step;
        const auto* const with = weighted ? values + link : values;
        if (past_caches_) {
          detail::move_single_links<weighted, true>(window, ids + link, with, singles, to);
        } else {
          detail::move_single_links<weighted, false>(window, ids + link, with, singles, to);
        }
        to += singles;
        link += singles;
        some.runs -= singles;
      }
      for (std::uint32_t left = some.runs; left > 0; left -= some.runs) {
        some.runs = std::min(left, at_once - filled);
        detail::sum_runs<weighted>(window, ids + link, weighted ? values + link : values, some,
                                   buffer + filled);
        filled += some.runs;
        link += EdgeIndex{some.length} * some.runs;
        if (filled == at_once) flush();
      }
    }
    while (filled % BlockedLayout::padded_to != 0) buffer[filled++] = 0;
    flush();
  }

  template <class Accumulator>
  static void add_partials(const T* partials, const std::uint16_t* rows, EdgeIndex count,
                           Accumulator* y) {
    using detail::in_step;
    for (EdgeIndex i = 0; i < count; i += in_step) {
      for (std::size_t k = 0; k < in_step; k += 64 / sizeof(T)) {
        prefetch_ahead(partials + i + k);
      }
      prefetch_ahead(rows + i);
      for (std::size_t k = i; k < i + in_step; k += 4) {
        detail::add_four(partials + k, rows + k, y);
      }
    }
  }

  const BlockedLayout& layout_;
  Blocks blocks_;
  EdgeIndex first_run_;
  bool past_caches_;
  T* partials_;
};

}  // namespace pagerank
