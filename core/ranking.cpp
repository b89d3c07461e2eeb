#include "core/ranking.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "core/threads.hpp"

namespace pagerank {
namespace {

/// Scores are counted by their first bits: sign, exponent and five bits of the fraction.
constexpr unsigned bin_bits = 16;
constexpr std::size_t bins = std::size_t{1} << bin_bits;
/// Fewer nodes are ordered without counting them, by one thread.
constexpr std::size_t worth_threads = 1 << 14;
/// Fewer of the highest are found in one pass, of which a thread has at least so many nodes: where
/// all cores are busy, waiting for another thread takes longer than the pass (a millisecond).
constexpr std::size_t few = 1 << 14, few_from_nodes = 1 << 20;

struct Ranked {
  double score;
  NodeId node;
};
bool is_ahead(const Ranked& a, const Ranked& b) {
  return a.score != b.score ? a.score > b.score : a.node < b.node;
}

/// Higher scores never have lower bins.
std::size_t bin_of(double score) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // -0 is 0
  return ((bits & sign) != 0 ? ~bits : bits | sign) >> (64 - bin_bits);
}

/// Neighbouring nodes, a piece a thread.
struct Pieces {
  std::size_t nodes, count;
  [[nodiscard]] std::size_t begin(std::size_t piece) const { return nodes * piece / count; }
};

/// Leaves the first `depth` in the ranking, the last of them at the end.
void cut_to(std::vector<Ranked>& ranked, std::size_t depth) {
  const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(depth - 1);
  std::nth_element(ranked.begin(), last, ranked.end(), is_ahead);
  ranked.resize(depth);
}

/// The first `depth` of the nodes [begin, end) in their ranking (more than 0, all if they are
/// fewer), in any order.
std::vector<Ranked> highest_of(std::span<const double> scores, std::size_t begin, std::size_t end,
                               std::size_t depth) {
  std::vector<Ranked> found;
  found.reserve(2 * depth);
  const std::size_t first_end = std::min(end, begin + depth);
  for (std::size_t i = begin; i < first_end; ++i) {
    found.push_back({scores[i], static_cast<NodeId>(i)});
  }
  if (first_end == end) return found;
  cut_to(found, depth);
  double lowest = found.back().score;
  for (std::size_t i = first_end; i < end; ++i) {
    if (!(scores[i] > lowest)) continue;  // behind all of equal score, too
    found.push_back({scores[i], static_cast<NodeId>(i)});
    if (found.size() < 2 * depth) continue;
    cut_to(found, depth);
    lowest = found.back().score;
  }
  if (found.size() > depth) cut_to(found, depth);
  return found;
}

/// The first `depth` nodes of the ranking.
std::vector<NodeId> rank_few(std::span<const double> scores, std::size_t depth, int threads) {
  const Pieces pieces{scores.size(), std::clamp(scores.size() / few_from_nodes, std::size_t{1},
                                                static_cast<std::size_t>(threads))};
  std::vector<std::vector<Ranked>> of_pieces(pieces.count);
  parallel_for(pieces.count, threads, [&](std::size_t p) {
    of_pieces[p] = highest_of(scores, pieces.begin(p), pieces.begin(p + 1), depth);
  });
  std::vector<Ranked> ranked = std::move(of_pieces[0]);
  for (std::size_t p = 1; p < pieces.count; ++p) {
    ranked.insert(ranked.end(), of_pieces[p].begin(), of_pieces[p].end());
  }
  if (ranked.size() > depth) cut_to(ranked, depth);
  std::sort(ranked.begin(), ranked.end(), is_ahead);
  std::vector<NodeId> nodes(ranked.size());
  std::transform(ranked.begin(), ranked.end(), nodes.begin(),
                 [](const Ranked& one) { return one.node; });
  return nodes;
}

/// All nodes in the highest bins that have at least `depth` of them.
std::vector<NodeId> nodes_of_highest_bins(std::span<const double> scores, std::size_t depth,
                                          int threads) {
  const Pieces pieces{scores.size(), static_cast<std::size_t>(threads)};
  std::vector<std::vector<NodeId>> counts(pieces.count, std::vector<NodeId>(bins));
  parallel_for(pieces.count, threads, [&](std::size_t p) {
    for (std::size_t i = pieces.begin(p); i < pieces.begin(p + 1); ++i)
      ++counts[p][bin_of(scores[i])];
  });
  std::size_t lowest = bins, found = 0;
  std::vector<std::size_t> found_in(pieces.count);
  while (lowest > 0 && found < depth) {
    --lowest;
    for (std::size_t p = 0; p < pieces.count; ++p) {
      found_in[p] += counts[p][lowest];
      found += counts[p][lowest];
    }
  }
  std::vector<NodeId> nodes(found);
  parallel_for(pieces.count, threads, [&](std::size_t p) {
    const auto before = found_in.begin() + static_cast<std::ptrdiff_t>(p);
    const std::size_t first = std::accumulate(found_in.begin(), before, std::size_t{0});
    auto out = nodes.begin() + static_cast<std::ptrdiff_t>(first);
    for (std::size_t i = pieces.begin(p); i < pieces.begin(p + 1); ++i) {
      if (bin_of(scores[i]) >= lowest) *out++ = static_cast<NodeId>(i);
    }
  });
  return nodes;
}

/// Sorts pieces, a thread each, and merges neighbours until one is left.
template <class Elements, class Compare>
void sort_by_pieces(Elements& elements, int threads, Compare compare) {
  const Pieces pieces{elements.size(), elements.size() < worth_threads
                                           ? std::size_t{1}
                                           : static_cast<std::size_t>(threads)};
  const auto place = [&](std::size_t piece) {
    return elements.begin() +
           static_cast<std::ptrdiff_t>(pieces.begin(std::min(piece, pieces.count)));
  };
  parallel_for(pieces.count, threads,
               [&](std::size_t p) { std::sort(place(p), place(p + 1), compare); });
  for (std::size_t sorted = 1; sorted < pieces.count; sorted *= 2) {
    parallel_for((pieces.count + 2 * sorted - 1) / (2 * sorted), threads, [&](std::size_t pair) {
      const std::size_t first = pair * 2 * sorted;
      std::inplace_merge(place(first), place(first + sorted), place(first + 2 * sorted), compare);
    });
  }
}

/// The first of these nodes in their ranking.
std::vector<NodeId> ordered(std::span<const double> scores, std::vector<NodeId> nodes,
                            std::size_t depth, int threads) {
  // Side by side: to look scores up while sorting takes twice as long.
  Array<Ranked> ranked(nodes.size());
  const Pieces pieces{nodes.size(), static_cast<std::size_t>(threads)};
  parallel_for(pieces.count, threads, [&](std::size_t p) {
    for (std::size_t i = pieces.begin(p); i < pieces.begin(p + 1); ++i) {
      ranked[i] = {scores[nodes[i]], nodes[i]};
    }
  });
  if (depth < ranked.size()) {
    const auto cut = ranked.begin() + static_cast<std::ptrdiff_t>(depth);
    std::nth_element(ranked.begin(), cut, ranked.end(), is_ahead);
    ranked.resize(depth);
  }
  sort_by_pieces(ranked, threads, is_ahead);
  nodes.resize(ranked.size());
  parallel_for(pieces.count, threads, [&](std::size_t p) {
    const std::size_t end = std::min(pieces.begin(p + 1), nodes.size());
    for (std::size_t i = pieces.begin(p); i < end; ++i) nodes[i] = ranked[i].node;
  });
  return nodes;
}

}  // namespace

std::vector<NodeId> rank_nodes(std::span<const double> scores, std::size_t depth, int threads) {
  threads = scores.size() < worth_threads ? 1 : thread_count(threads);
  if (depth == 0) return {};
  if (depth <= few && depth < scores.size()) return rank_few(scores, depth, threads);
  std::vector<NodeId> order;
  if (depth < scores.size() && scores.size() >= worth_threads) {
    order = nodes_of_highest_bins(scores, depth, threads);
  } else {
    order.resize(scores.size());
    std::iota(order.begin(), order.end(), NodeId{0});
  }
  return ordered(scores, std::move(order), depth, threads);
}

}  // namespace pagerank
