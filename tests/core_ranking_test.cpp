#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "core/convergence.hpp"
#include "core/node_names.hpp"
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

TEST_CASE("the certified depth ends where a score is that of several nodes") {
  const std::vector<double> scores = {0.4, 0.3, 0.1};
  CHECK(certified_depth(scores, 0.01) == 3);
  CHECK(certified_depth(scores, 0.01, 1, 5) == 2);
  CHECK(certified_depth(std::vector{0.3, 0.1, 0.2}, 0.01, 1, 5) == 1);
  CHECK(certified_depth(std::vector{0.1}, 0.01, 1, 5) == 0);
}

TEST_CASE("nodes that share a row are ranked and listed as if each had its own") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t nodes = 2 + random() % 12;
    std::vector<double> of_nodes(nodes), of_rows;
    NodeLabels linked;
    for (std::uint64_t node = 1; node <= nodes; ++node) {
      if (random() % 2 == 0 && linked.size() + 2 < nodes) {
        linked.push_back(node);
        of_rows.push_back(static_cast<double>(1 + random() % 4));
      }
    }
    const auto shared = static_cast<double>(random() % 4);  // may be above others
    of_rows.push_back(shared);
    std::fill(of_nodes.begin(), of_nodes.end(), shared);
    for (std::size_t row = 0; row < linked.size(); ++row) of_nodes[linked[row] - 1] = of_rows[row];
    const NodeNames names{linked, nodes - of_rows.size()};
    using Listed = std::vector<std::pair<std::uint64_t, double>>;

    Listed listed, expected;
    for_each_node(of_rows, names,
                  [&](auto label, double score) { listed.emplace_back(label, score); });
    for (NodeId node = 0; node < nodes; ++node) expected.emplace_back(node + 1, of_nodes[node]);
    CHECK(listed == expected);

    for (std::size_t most = 0; most <= nodes + 1; ++most) {
      listed.clear();
      expected.clear();
      for (const NodeId node : rank_nodes(of_nodes, most)) {
        expected.emplace_back(node + 1, of_nodes[node]);
      }
      const std::vector<NodeId> order = rank_nodes(of_rows, most);
      for_each_ranked(of_rows, order, names, most,
                      [&](auto label, double score) { listed.emplace_back(label, score); });
      CHECK(listed == expected);
    }
  }
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
