#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "core/graph_generator.hpp"
#include "core/multiply.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

namespace {

constexpr GraphKind all_kinds[] = {
    GraphKind::rmat,     GraphKind::uniform,      GraphKind::web,         GraphKind::power_law,
    GraphKind::citation, GraphKind::preferential, GraphKind::small_world, GraphKind::communities,
    GraphKind::traps,    GraphKind::diagonal,     GraphKind::hub};

/// FNV-1a over the entries: a fingerprint to hold machines against each other.
std::uint64_t fingerprint(const EdgeList& edges) {
  std::uint64_t hash = 14695981039346656037U;
  for (std::size_t e = 0; e < edges.sources.size(); ++e) {
    for (const NodeId node : {edges.sources[e], edges.targets[e]}) {
      hash = (hash ^ node) * 1099511628211U;
    }
  }
  return hash;
}

std::vector<EdgeIndex> in_degrees(const EdgeList& edges) {
  std::vector<EdgeIndex> degrees(edges.node_count, 0);
  for (const NodeId target : edges.targets) ++degrees[target];
  return degrees;
}

}  // namespace

TEST_CASE("a recipe makes the same graph with any number of threads, another seed another graph") {
  for (const GraphKind kind : all_kinds) {
    CAPTURE(static_cast<int>(kind));
    const GraphRecipe recipe{.kind = kind, .nodes = 1 << 14, .links = 200'000, .scramble = true};
    const EdgeList one = generate_graph(recipe, 1);
    for (const int threads : {2, 3, 8}) {
      const EdgeList many = generate_graph(recipe, threads);
      CHECK(many.sources == one.sources);
      CHECK(many.targets == one.targets);
    }
    GraphRecipe other = recipe;
    other.seed = 2;
    CHECK(fingerprint(generate_graph(other)) != fingerprint(one));
  }
}

TEST_CASE("generated graphs are the same on every machine") {
  // Computed once; a difference means that published measurements name other graphs now.
  const auto print = [](GraphKind kind, bool scramble) {
    return fingerprint(generate_graph(
        {.kind = kind, .nodes = 1 << 12, .links = 1 << 16, .seed = 7, .scramble = scramble}));
  };
  CHECK(print(GraphKind::rmat, false) == 2121166885277987991U);
  CHECK(print(GraphKind::rmat, true) == 10297531337572358193U);
  CHECK(print(GraphKind::uniform, false) == 707180018167519150U);
  CHECK(print(GraphKind::web, false) == 16254097863999353487U);
  CHECK(print(GraphKind::power_law, false) == 987640234323785885U);
}

TEST_CASE("R-MAT quadrants have the Graph500 probabilities") {
  constexpr EdgeIndex links = 1 << 20;
  const EdgeList edges =
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 10, .links = links, .seed = 3});
  for (const int bit : {0, 5, 9}) {
    double counts[4] = {};
    for (EdgeIndex e = 0; e < links; ++e) {
      ++counts[(edges.sources[e] >> bit & 1) * 2 + (edges.targets[e] >> bit & 1)];
    }
    const double expected[4] = {0.57, 0.19, 0.19, 0.05};
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      CHECK(counts[quadrant] / links == doctest::Approx(expected[quadrant]).epsilon(0.01));
    }
  }
}

TEST_CASE("uniform graphs spread both ends evenly over any number of nodes") {
  const EdgeList edges =
      generate_graph({.kind = GraphKind::uniform, .nodes = 1000, .links = 1'000'000});
  const auto degrees = in_degrees(edges);
  CHECK(*std::max_element(degrees.begin(), degrees.end()) < 1200);
  CHECK(*std::min_element(degrees.begin(), degrees.end()) > 800);
}

TEST_CASE("web graphs link near in 85 of 100 cases, by distances 10^(4u), else to hubs") {
  constexpr NodeId n = 1 << 20;
  constexpr EdgeIndex links = 1 << 20;
  const EdgeList edges = generate_graph({.kind = GraphKind::web, .nodes = n, .links = links});
  double near = 0, below_100 = 0;
  for (EdgeIndex e = 0; e < links; ++e) {
    const NodeId forwards = (edges.targets[e] - edges.sources[e]) % n;
    const NodeId distance = std::min(forwards, n - forwards);
    near += distance < 10'000 ? 1 : 0;
    below_100 += distance < 100 ? 1 : 0;
  }
  // Of the hubs' links a few lie near by chance: 15 % of 2 * 10^4 / 2^20.
  CHECK(near / links == doctest::Approx(0.85 + 0.15 * 0.019).epsilon(0.005));
  CHECK(below_100 / links == doctest::Approx(0.425).epsilon(0.01));
}

TEST_CASE("power-law in-degrees fall as one over the rank") {
  constexpr NodeId n = 1 << 16;
  constexpr EdgeIndex links = 1 << 22;
  auto degrees =
      in_degrees(generate_graph({.kind = GraphKind::power_law, .nodes = n, .links = links}));
  std::sort(degrees.begin(), degrees.end(), std::greater<>());
  // P(rank r) = log((r + 2) / (r + 1)) / log n
  for (const int rank : {0, 1, 9, 99}) {
    const double expected =
        links * std::log((rank + 2.0) / (rank + 1.0)) / std::log(static_cast<double>(n));
    CHECK(static_cast<double>(degrees[static_cast<std::size_t>(rank)]) ==
          doctest::Approx(expected).epsilon(0.08));
  }
}

TEST_CASE("citations go back to any earlier node alike") {
  constexpr NodeId n = 1000;
  const EdgeList edges =
      generate_graph({.kind = GraphKind::citation, .nodes = n, .links = 1'000'000});
  double halves = 0;
  for (EdgeIndex e = 0; e < edges.entry_count(); ++e) {
    REQUIRE(edges.targets[e] < edges.sources[e]);
    halves += edges.targets[e] < edges.sources[e] / 2 ? 1 : 0;
  }
  CHECK(halves / 1e6 == doctest::Approx(0.5).epsilon(0.01));
  // Of all that come behind a node, each links to it with 1 of its number.
  const auto degrees = in_degrees(edges);
  for (const NodeId node : {10U, 100U, 500U}) {
    CHECK(static_cast<double>(degrees[node]) ==
          doctest::Approx(1e6 / n * std::log(double{n} / node)).epsilon(0.1));
  }
}

TEST_CASE("preferential attachment links to ends of earlier links") {
  // One after the other, as it is defined: the same law, drawn by another generator.
  constexpr NodeId n = 1 << 12;
  constexpr EdgeIndex links = EdgeIndex{n} * 32;
  const EdgeList edges =
      generate_graph({.kind = GraphKind::preferential, .nodes = n, .links = links});
  EdgeList expected{.node_count = n};
  std::mt19937_64 random(3);
  for (EdgeIndex e = 0; e < links; ++e) {
    const EdgeIndex end = e > 0 ? random() % (2 * e) : 1;
    expected.targets.push_back(e == 0         ? 0
                               : end % 2 == 0 ? expected.sources[end / 2]
                                              : expected.targets[end / 2]);
    expected.sources.push_back(
        static_cast<NodeId>(std::min<EdgeIndex>(n - 1, e * (n - 1) / links + 1)));
  }
  CHECK(edges.sources == expected.sources);
  for (EdgeIndex e = 0; e < links; ++e) REQUIRE(edges.targets[e] <= edges.sources[e]);
  const auto share_of_first = [&](const EdgeList& of, std::size_t first) {
    const auto degrees = in_degrees(of);
    return static_cast<double>(std::accumulate(degrees.begin(),
                                               degrees.begin() + static_cast<std::ptrdiff_t>(first),
                                               EdgeIndex{0})) /
           links;
  };
  for (const std::size_t first : {n / 16, n / 4, n / 2}) {
    CHECK(share_of_first(edges, first) ==
          doctest::Approx(share_of_first(expected, first)).epsilon(0.03));
    CHECK(share_of_first(edges, first) >
          1.8 * static_cast<double>(first) / n * (1 - 0.5 * static_cast<double>(first) / n));
  }
}

TEST_CASE("links of small worlds, communities and traps stay near as often as they should") {
  constexpr NodeId n = 100'000;
  constexpr EdgeIndex links = EdgeIndex{n} * 16;
  const auto share = [&](GraphKind kind, const auto& counts, const auto& is_near) {
    const EdgeList edges = generate_graph({.kind = kind, .nodes = n, .links = links});
    double near = 0, all = 0;
    for (EdgeIndex e = 0; e < links; ++e) {
      if (!counts(edges.sources[e])) continue;
      ++all;
      near += is_near(edges.sources[e], edges.targets[e]) ? 1 : 0;
    }
    return near / all;
  };
  const auto every = [](NodeId) { return true; };
  const auto caught = [](NodeId source) { return source < n / 50; };
  const auto free = [](NodeId source) { return source >= n / 50; };
  const auto in_group = [](NodeId source, NodeId target) { return source / 100 == target / 100; };
  const auto next = [](NodeId source, NodeId target) {
    return target != source && (target + n - source) % n <= 16;
  };
  CHECK(share(GraphKind::small_world, every, next) == doctest::Approx(0.9).epsilon(0.01));
  CHECK(share(GraphKind::communities, every, in_group) == doctest::Approx(0.8).epsilon(0.01));
  CHECK(share(GraphKind::traps, caught, in_group) == doctest::Approx(0.98).epsilon(0.01));
  CHECK(share(GraphKind::traps, free, in_group) < 0.002);
}

TEST_CASE("diagonal and hub have the shape that their names say") {
  const EdgeList diagonal = generate_graph({.kind = GraphKind::diagonal, .nodes = 77});
  CHECK(diagonal.entry_count() == 77);
  CHECK(diagonal.sources == diagonal.targets);
  const auto degrees = in_degrees(generate_graph({.kind = GraphKind::hub, .nodes = 500}));
  CHECK(degrees[0] == 501);
  CHECK(std::all_of(degrees.begin() + 1, degrees.end(), [](EdgeIndex d) { return d == 1; }));
}

TEST_CASE("scrambling renumbers the nodes one to one") {
  for (const std::uint64_t nodes : {1U, 2U, 1000U, 1U << 12}) {
    const GraphRecipe recipe{.kind = GraphKind::diagonal, .nodes = nodes, .scramble = true};
    const EdgeList edges = generate_graph(recipe);
    CHECK(std::set(edges.sources.begin(), edges.sources.end()).size() == nodes);
    CHECK(*std::max_element(edges.sources.begin(), edges.sources.end()) == nodes - 1);
    if (nodes > 100) CHECK_FALSE(std::is_sorted(edges.sources.begin(), edges.sources.end()));
  }
}

TEST_CASE("weights are drawn evenly from thousandths, and leave the links as they are") {
  const GraphRecipe plain{.kind = GraphKind::rmat, .nodes = 1 << 12, .links = 1 << 18, .seed = 5};
  GraphRecipe weighted = plain;
  weighted.weighted = true;
  const EdgeList edges = generate_graph(weighted, 3);
  CHECK(edges.sources == generate_graph(plain).sources);
  CHECK(edges.targets == generate_graph(plain).targets);
  CHECK(edges.weights == generate_graph(weighted, 1).weights);
  REQUIRE(edges.weights.size() == edges.entry_count());
  const auto [least, most] = std::minmax_element(edges.weights.begin(), edges.weights.end());
  CHECK(*least == 0.001);
  CHECK(*most == 1);
  const double sum = std::accumulate(edges.weights.begin(), edges.weights.end(), 0.0);
  CHECK(sum / static_cast<double>(edges.entry_count()) == doctest::Approx(0.5005).epsilon(0.01));
  weighted.seed = 6;
  CHECK(edges.weights != generate_graph(weighted).weights);
}

TEST_CASE("recipes that make no graph are refused") {
  CHECK_THROWS_AS((void)generate_graph({.nodes = 0}), std::invalid_argument);
  CHECK_THROWS_AS((void)generate_graph({.nodes = 1000}), std::invalid_argument);
  CHECK_THROWS_AS((void)generate_graph({.kind = GraphKind::uniform, .nodes = 1ULL << 32}),
                  std::invalid_argument);
}

TEST_CASE("the reference multiplication adds rows up, with values and without") {
  CsrMatrix matrix;
  matrix.row_offsets = {0, 2, 2, 5};
  matrix.column_indices = {0, 2, 0, 1, 1};
  const std::vector<double> x = {1, 10, 100};
  CHECK(multiply(matrix, x) == std::vector<double>{101, 0, 21});
  matrix.values = {0.5, 2, 1, 1, 3};
  CHECK(multiply(matrix, x, 2) == std::vector<double>{200.5, 0, 41});
}

TEST_SUITE_END();
}  // namespace pagerank::tests
