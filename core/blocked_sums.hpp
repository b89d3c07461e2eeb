#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "core/blocked_layout.hpp"
#include "core/huge_pages.hpp"

namespace pagerank {

namespace detail {

/// Bytes ahead of its use that what is read in order is asked for: the hardware's prefetching stops
/// at the end of each page.
constexpr std::size_t ahead = 1024;

template <class T>
void prefetch_ahead(const T* stream) {
  __builtin_prefetch(reinterpret_cast<const char*>(stream) + ahead);
}

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

/// Writes sums past the caches: they are too many to be there still when they are read.
inline void stream(const float* sums, std::size_t count, float* to) {
#if defined(__x86_64__)
  const auto one = [&](std::size_t i) {
    _mm_stream_si32(reinterpret_cast<int*>(to + i), std::bit_cast<int>(sums[i]));
  };
  std::size_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) one(i);
  for (; i + 4 <= count; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(sums + i));
  for (; i < count; ++i) one(i);
#else
  std::copy_n(sums, count, to);
#endif
}
inline void stream(const double* sums, std::size_t count, double* to) {
#if defined(__x86_64__)
  const auto one = [&](std::size_t i) {
    _mm_stream_si64(reinterpret_cast<long long*>(to + i), std::bit_cast<long long>(sums[i]));
  };
  std::size_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) one(i);
  for (; i + 2 <= count; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(sums + i));
  for (; i < count; ++i) one(i);
#else
  std::copy_n(sums, count, to);
#endif
}
/// Before others read what was streamed.
inline void end_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace detail

/// Multiplies by the 0/1 structure of a BlockedLayout, or by its values.
template <class T>
class BlockedSums {
 public:
  explicit BlockedSums(const BlockedLayout& layout) : layout_(layout) {}

  /// The first pass over a group: partial sums of its runs of z.
  template <bool weighted, class V>
  void gather(const BlockedLayout::Group& group, const T* z, const V* values, ThreadTeam& team) {
    allocate();
    const EdgeIndex first_run = layout_.segments[group.first_segment].first_run;
    const bool streamed = run_count(group) * sizeof(T) > layout_.sizes.streamed_bytes;
    team.for_each(group.last_task - group.first_task, [&](std::size_t t) {
      const std::size_t task = group.first_task + t;
      for (std::size_t s = layout_.tasks[task]; s < layout_.tasks[task + 1]; ++s) {
        const std::size_t window =
            (s - group.first_segment) / (group.last_block - group.first_block);
        T* const to = partials_.data() + (layout_.segments[s].first_run - first_run);
        const T* const from = z + window * layout_.sizes.window_nodes;
        if (streamed) {
          gather_segment<weighted, true>(s, from, values, to);
        } else {
          gather_segment<weighted, false>(s, from, values, to);
        }
      }
      if (streamed) detail::end_streaming();
    });
  }

  /// The second pass: calls body(block, begin, end, y) for each row block of the group, y[i] being
  /// the sum of row begin + i. Accumulator is what a row's partial sums are added up with.
  template <class Accumulator, class Body>
  void combine(const BlockedLayout::Group& group, ThreadTeam& team, Body& body) {
    const EdgeIndex first_run = layout_.segments[group.first_segment].first_run;
    const std::size_t blocks = group.last_block - group.first_block;
    team.for_each(blocks, [&](std::size_t b) {
      thread_local std::vector<Accumulator> y;  // kept: its pages are there
      const BlockedLayout::RowBlock block = layout_.blocks[group.first_block + b];
      y.assign(block.end - block.begin, Accumulator{});
      for (std::size_t window = 0; window < layout_.window_count; ++window) {
        const std::size_t s = group.first_segment + window * blocks + b;
        const EdgeIndex begin = layout_.segments[s].first_run;
        add_partials(partials_.data() + (begin - first_run), layout_.rows.data() + begin,
                     layout_.segments[s + 1].first_run - begin, y.data());
      }
      body(group.first_block + b, block.begin, block.end, y.data());
    });
  }

 private:
  [[nodiscard]] EdgeIndex run_count(const BlockedLayout::Group& group) const {
    const std::size_t segments = layout_.window_count * (group.last_block - group.first_block);
    return layout_.segments[group.first_segment + segments].first_run -
           layout_.segments[group.first_segment].first_run;
  }

  void allocate() {
    if (partials_.size() == layout_.largest_group) return;
    partials_.resize(layout_.largest_group);
    advise_huge_pages(std::span(partials_));
  }

  template <bool weighted, bool streamed, class V>
  void gather_segment(std::size_t s, const T* window, const V* values, T* to) const {
    EdgeIndex link = layout_.segments[s].first_link;
    for (std::size_t c = layout_.segments[s].first_class; c < layout_.segments[s + 1].first_class;
         ++c) {
      BlockedLayout::RunClass some = layout_.classes[c];
      for (std::uint32_t left = some.runs; left > 0; left -= some.runs) {
        constexpr std::uint32_t at_once = 512;
        alignas(64) T buffer[at_once];
        if constexpr (streamed) some.runs = std::min(left, at_once);
        detail::sum_runs<weighted>(window, layout_.sources.data() + link,
                                   weighted ? values + link : values, some, streamed ? buffer : to);
        if constexpr (streamed) detail::stream(buffer, some.runs, to);
        to += some.runs;
        link += EdgeIndex{some.length} * some.runs;
      }
    }
  }

  template <class Accumulator>
  static void add_partials(const T* partials, const std::uint16_t* rows, std::size_t count,
                           Accumulator* y) {
    constexpr std::size_t at_once = 64 / sizeof(T);
    std::size_t i = 0;
    for (; i + at_once <= count; i += at_once) {
      detail::prefetch_ahead(partials + i);
      detail::prefetch_ahead(rows + i);
      for (std::size_t k = i; k < i + at_once; ++k) y[rows[k]] += partials[k];
    }
    for (; i < count; ++i) y[rows[i]] += partials[i];
  }

  const BlockedLayout& layout_;
  Array<T> partials_;
};

}  // namespace pagerank
