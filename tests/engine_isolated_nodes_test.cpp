// Graphs in which many nodes neither link nor are linked to, larger than a window of any kernel:
// what an iteration may leave out must not show.
#include <doctest/doctest.h>

#include <random>

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

TEST_SUITE_END();
}  // namespace pagerank::tests
