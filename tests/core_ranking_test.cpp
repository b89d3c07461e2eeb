#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/convergence.hpp"
#include "core/ranking.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

TEST_CASE("nodes are ranked by score, equal scores by node number") {
  const std::vector<double> scores = {0.1, 0.3, 0.2, 0.3, 0.1};
  CHECK(rank_nodes(scores) == std::vector<NodeId>{1, 3, 2, 0, 4});
  CHECK(rank_nodes(scores, 2) == std::vector<NodeId>{1, 3});
  CHECK(rank_nodes(scores, 0).empty());
  CHECK(rank_nodes(scores, 99) == std::vector<NodeId>{1, 3, 2, 0, 4});
}

TEST_CASE("the first places are the beginning of the full order, ties included") {
  std::mt19937 random(3);
  std::vector<double> scores(5000);
  for (double& score : scores) score = static_cast<double>(random() % 700);
  const std::vector<NodeId> all = rank_nodes(scores);
  for (const std::size_t depth : {1U, 10U, 999U, 4999U}) {
    CHECK(rank_nodes(scores, depth) ==
          std::vector<NodeId>(all.begin(), all.begin() + static_cast<long>(depth)));
  }
}

TEST_CASE("large rankings are what sorting gives, for any depth and number of threads") {
  std::mt19937 random(5);
  for (const unsigned values : {3U, 1000U, 1U << 30}) {  // many ties, some, hardly any
    CAPTURE(values);
    std::vector<double> scores(40000);
    for (double& score : scores) score = static_cast<double>(random() % values) / values;
    scores[7] = -0.0;
    scores[8] = -1;
    std::vector<NodeId> sorted(scores.size());
    std::iota(sorted.begin(), sorted.end(), NodeId{0});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](NodeId a, NodeId b) { return scores[a] > scores[b]; });
    for (const std::size_t depth : {1U, 10U, 5000U, 39999U, 40000U}) {
      for (const int threads : {1, 2, 5}) {
        const std::vector<NodeId> ranked = rank_nodes(scores, depth, threads);
        REQUIRE(ranked.size() == depth);
        CHECK(std::equal(ranked.begin(), ranked.end(), sorted.begin()));
      }
    }
  }
}

TEST_CASE("the first places are found in rankings of more nodes than a thread looks at") {
  constexpr std::size_t nodes = (3 << 20) + 5;
  const auto place_of = [](std::size_t i) { return i * 2654435761U % nodes; };  // a permutation
  std::vector<double> scores(nodes);
  for (const std::size_t ties : {1U, 50U}) {  // runs of equal scores
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t tie = place_of(i) / ties;
      scores[i] = 1.0 - static_cast<double>(tie) / nodes;
    }
    std::vector<NodeId> sorted(nodes);
    std::iota(sorted.begin(), sorted.end(), NodeId{0});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](NodeId a, NodeId b) { return scores[a] > scores[b]; });
    for (const std::size_t depth : {1U, 1024U, 16384U, 16385U}) {
      for (const int threads : {1, 2, 5}) {
        const std::vector<NodeId> ranked = rank_nodes(scores, depth, threads);
        REQUIRE(ranked.size() == depth);
        CHECK(std::equal(ranked.begin(), ranked.end(), sorted.begin()));
      }
    }
  }
}

TEST_CASE("the certified depth ends at the first gap within the error bound") {
  const std::vector<double> scores = {0.1, 0.4, 0.3, 0.35};
  CHECK(certified_depth(scores, 0.01) == 4);
  CHECK(certified_depth(scores, 0.049) == 4);
  CHECK(certified_depth(scores, 0.06) == 0);
  CHECK(certified_depth(std::vector{0.5, 0.3, 0.2, 0.2}, 1e-9) == 2);
  CHECK(certified_depth(std::vector{1.0}, 1e-9) == 1);
}

TEST_CASE("the certified depth is found beyond the first prefix that is looked at") {
  std::vector<double> scores(6000);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(6000 - i);
  CHECK(certified_depth(scores, 0.5) == 6000);
  scores[4001] = scores[4000];
  CHECK(certified_depth(scores, 0.5) == 4000);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
