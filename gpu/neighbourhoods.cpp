#include "gpu/neighbourhoods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "core/parallel.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::size_t walks_of_a_start = 256;

struct Walk {
  NodeId at, from;  ///< Where it is, and was a step before.
  std::uint32_t start;
};

constexpr double pairs(std::size_t count) {
  const auto n = static_cast<double>(count);
  return n * (n - 1) / 2;
}

/// Of all pairs of `sorted`, how many have the same key.
template <class Key>
double pairs_alike(const std::vector<Walk>& sorted, Key key) {
  double sum = 0;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::find_if(begin, sorted.end(),
                                  [&](const Walk& walk) { return key(walk) != key(*begin); });
    sum += pairs(static_cast<std::size_t>(end - begin));
    begin = end;
  }
  return sum;
}

struct Meetings {
  double parted = 0;  ///< Pairs of one start that came to a node from different ones,
  double chance = 0;  ///< and how many would if where they started told nothing.
};

Meetings count_meetings(std::vector<Walk> walks) {
  const auto by_start = [](const Walk& walk) { return walk.start; };
  const auto by_node = [](const Walk& walk) { return walk.at; };
  const auto by_node_and_start = [](const Walk& walk) { return std::pair(walk.at, walk.start); };
  const auto by_all = [](const Walk& walk) { return std::tuple(walk.at, walk.start, walk.from); };
  // (They come in the order of their starts.)
  const double of_a_start = pairs_alike(walks, by_start);
  const double across = pairs(walks.size()) - of_a_start;
  std::sort(walks.begin(), walks.end(),
            [&](const Walk& a, const Walk& b) { return by_all(a) < by_all(b); });
  const double met = pairs_alike(walks, by_node_and_start);
  const double met_across = pairs_alike(walks, by_node) - met;
  return {.parted = met - pairs_alike(walks, by_all),
          .chance = across > 0 ? met_across / across * of_a_start : 0};
}

/// Each walk a step back along one of the links to its node, drawn evenly; those end that nothing
/// links to.
void step_back(std::vector<Walk>& walks, const MatrixSampler& matrix, std::mt19937_64& random) {
  std::vector<NodeId> nodes(walks.size());
  std::transform(walks.begin(), walks.end(), nodes.begin(), [](const Walk& w) { return w.at; });
  const std::vector<MatrixSampler::Row> rows = matrix.rows(nodes);
  std::vector<EdgeIndex> links;
  links.reserve(walks.size());
  for (std::size_t i = 0; i < walks.size(); ++i) {
    if (rows[i].begin == rows[i].end) continue;
    const auto length = static_cast<double>(rows[i].end - rows[i].begin);
    const double drawn = static_cast<double>(random() >> 11) * 0x1p-53;
    walks[links.size()] = walks[i];
    links.push_back(rows[i].begin + static_cast<EdgeIndex>(drawn * length));
  }
  walks.resize(links.size());
  const std::vector<NodeId> sources = matrix.columns(links);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    walks[i] = {.at = sources[i], .from = walks[i].at, .start = walks[i].start};
  }
}

}  // namespace

Neighbourhoods walk_neighbourhoods(const MatrixSampler& matrix, std::size_t starts, int threads) {
  // Before the third step few have parted; after the eighth few of those are near each other.
  constexpr std::size_t first = 3, steps_apart = 3, last = first + 2 * steps_apart - 1;
  std::vector<EdgeIndex> links(starts);
  const EdgeIndex apart = matrix.link_count() / starts;
  for (std::size_t s = 0; s < starts; ++s) links[s] = s * apart + apart / 2;
  std::vector<Walk> walks;
  walks.reserve(starts * walks_of_a_start);
  for (const NodeId node : matrix.columns(links)) {
    const auto start = static_cast<std::uint32_t>(walks.size() / walks_of_a_start);
    walks.insert(walks.end(), walks_of_a_start, Walk{.at = node, .from = node, .start = start});
  }
  std::mt19937_64 random;  // The same walks every time.
  std::array<std::vector<Walk>, last + 1> at_step;
  for (std::size_t step = 1; step <= last; ++step) {
    step_back(walks, matrix, random);
    if (step >= first) at_step[step] = walks;
  }
  Neighbourhoods found;
  found.ended =
      1 - static_cast<double>(walks.size()) / static_cast<double>(starts * walks_of_a_start);
  std::array<Meetings, 2 * steps_apart> meetings;
  parallel_for(meetings.size(), threads,
               [&](std::size_t i) { meetings[i] = count_meetings(std::move(at_step[first + i])); });
  double early = 0, late = 0, late_chance = 0;
  for (std::size_t i = 0; i < steps_apart; ++i) {
    early += meetings[i].parted - meetings[i].chance;
    late += meetings[i + steps_apart].parted - meetings[i + steps_apart].chance;
    late_chance += meetings[i + steps_apart].chance;
  }
  // What chance may have brought tells nothing. (Pairs are not independent of each other.)
  if (late < 8 + 5 * std::sqrt(late_chance)) return found;
  found.mixing =
      std::min(slowest_mixing, std::pow(late / std::max(early, 1.0), 1.0 / (2 * steps_apart)));
  return found;
}

}  // namespace pagerank::gpu
