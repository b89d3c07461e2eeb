// Graphs in which many nodes neither link nor are linked to, larger than a window of any kernel:
// what an iteration may leave out must not show.
#include <doctest/doctest.h>

#include <random>

#include "core/convergence.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

namespace {

constexpr NodeId nodes = 130'000;

/// The graph with its nodes spread over more numbers: node i becomes i * 3 / 2, and every third
/// number is nobody's. Its last numbers are nobody's either.
EdgeList with_gaps(const EdgeList& edges) {
  EdgeList spread;
  spread.node_count = nodes;
  spread.weights = edges.weights;
  for (std::size_t k = 0; k < edges.entry_count(); ++k) {
    spread.add_entry(SourceIndex::row, edges.sources[k] / 2 * 3 + edges.sources[k] % 2,
                     edges.targets[k] / 2 * 3 + edges.targets[k] % 2);
  }
  return spread;
}

/// R-MAT is taken by falling out-degree, where many nodes have only in-links or none at all; web
/// as numbered.
EdgeList made(GraphKind kind, bool weighted) {
  const GraphRecipe recipe{.kind = kind,
                           .nodes = std::uint64_t{1} << 16,
                           .links = std::uint64_t{1} << 17,
                           .scramble = kind == GraphKind::rmat};
  EdgeList edges = with_gaps(generate_graph(recipe));
  if (weighted) {
    std::mt19937_64 random(7);
    edges.weights.resize(edges.entry_count());
    // Every eighth is 0: some nodes have out-links and yet are dangling.
    for (double& weight : edges.weights) weight = static_cast<double>(random() % 8);
  }
  return edges;
}

}  // namespace

TEST_CASE("nodes without links have the reference's rank on every engine, as all others") {
  for (const GraphKind kind : {GraphKind::rmat, GraphKind::web}) {
    for (const bool weighted : {false, true}) {
      if (weighted && kind != GraphKind::rmat) continue;
      CAPTURE(static_cast<int>(kind));
      CAPTURE(weighted);
      const EdgeList edges = made(kind, weighted);
      const TransitionMatrix matrix = make_transition_matrix(edges);
      REQUIRE(matrix.node_count() == nodes);
      const std::vector<double> reference = reference_pagerank(edges);
      for (const EngineCase& engine_case : engine_cases()) {
        CAPTURE(engine_case.name);
        const auto engine = engine_case.make(matrix);
        if (!engine) continue;
        const bool narrow = engine_case.precision == Precision::float32;
        const double tolerance = narrow ? 1e-5 : 1e-8;
        const Solution solution = engine->solve({}, {.tolerance = tolerance});
        CHECK(solution.converged);
        CHECK(l1_distance(solution.scores, reference) <= solution.error_bound + 1e-13);
        CHECK(solution.scores[2] == solution.scores[nodes - 1]);  // nobody's, both
        if (!narrow && !engine_case.library) {
          CHECK(solution.scores[2] == doctest::Approx(reference[2]).epsilon(1e-7));
        }
      }
    }
  }
}

TEST_CASE("a row stands for many nodes without links on every engine as if each had its own") {
  struct Graph {
    EdgeList edges;
    NodeId unlinked;
    double alpha;
  };
  std::mt19937_64 random(21);
  constexpr NodeId few = 3000;
  EdgeList small;
  small.node_count = few;
  for (NodeId node = 0; node < few; ++node) {
    // Some nodes only link, and some are only linked to.
    small.add_entry(SourceIndex::row, node / 3, node);
    const auto target = static_cast<NodeId>(random() % few);
    if (node % 5 != 0) small.add_entry(SourceIndex::row, node, target);
  }
  EdgeList weighted = small;
  weighted.weights.resize(weighted.entry_count());
  for (double& weight : weighted.weights) weight = static_cast<double>(random() % 8);
  // Of more than a window's nodes, some of which have no links, and yet a row each.
  const EdgeList large = made(GraphKind::rmat, false);
  for (const Graph& graph : {Graph{EdgeList{}, 9000, 0.85}, Graph{small, 9000, 0.85},
                             Graph{weighted, 9000, 0.95}, Graph{large, 20'000, 0.85}}) {
    const double alpha = graph.alpha;
    const NodeId rows = graph.edges.node_count + 1;
    CAPTURE(rows);
    CAPTURE(alpha);
    EdgeList with_one = graph.edges, with_all = graph.edges;
    with_one.node_count = rows;
    with_all.node_count += graph.unlinked;
    TransitionMatrix matrix = make_transition_matrix(with_one);
    matrix.more_unlinked = graph.unlinked - 1;
    REQUIRE(matrix.graph_node_count() == with_all.node_count);
    const std::vector<double> reference = reference_pagerank(with_all, alpha);
    for (const EngineCase& engine_case : engine_cases()) {
      CAPTURE(engine_case.name);
      const bool narrow = engine_case.precision == Precision::float32;
      const Problem problem{.alpha = alpha};
      const SolveOptions options{.tolerance = narrow ? 1e-4 : 1e-10};
      const auto engine = engine_case.make(matrix);
      if (!engine) continue;
      const Solution solution = engine->solve(problem, options);
      CHECK(solution.converged);
      REQUIRE(solution.scores.size() == rows);
      Array<double> of_nodes = solution.scores;
      of_nodes.resize(with_all.node_count, solution.scores.back());
      CHECK(l1_distance(of_nodes, reference) <= solution.error_bound + 1e-13);
      const double bound =
          error_from_residual(alpha, residual_l1(matrix, problem, solution.scores));
      CHECK(solution.error_bound == doctest::Approx(bound).epsilon(1e-3));
      if (narrow || engine_case.library || rows > few + 1) continue;
      // And it takes what it takes with a row each.
      const auto with_rows = engine_case.make(make_transition_matrix(with_all));
      if (!with_rows) continue;
      const std::uint32_t iterations = with_rows->solve(problem, options).iterations;
      CHECK(solution.iterations <= iterations + 1);
      CHECK(iterations <= solution.iterations + 1);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
