// Large graphs on their way to the GPU: by so many threads, all at once or some before others.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "gpu/pagerank.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("a graph arrives whole however many threads upload it") {
  if (!has_gpu()) return;
  struct Case {
    std::string name;
    GraphRecipe recipe;
  };
  // Out-weights and offsets travel beside the links where there are four of those a node.
  constexpr std::uint64_t nodes = 400'000;
  const std::array cases{
      Case{"before the links", {.kind = GraphKind::uniform, .nodes = nodes, .links = 3 * nodes}},
      Case{"hardly beside them",
           {.kind = GraphKind::uniform, .nodes = nodes, .links = 4 * (nodes + 1)}},
      Case{"beside them", {.kind = GraphKind::web, .nodes = nodes, .links = 9 * nodes}},
      Case{"hubs", {.kind = GraphKind::rmat, .nodes = 1 << 19, .links = 9 << 19, .scramble = true}},
      Case{"weights",
           {.kind = GraphKind::power_law, .nodes = nodes, .links = 5 * nodes, .weighted = true}}};
  const SolveOptions few{.tolerance = 1e-15, .max_iterations = 4};
  for (const auto& [name, recipe] : cases) {
    CAPTURE(name);
    const TransitionMatrix matrix = make_transition_matrix(generate_graph(recipe));
    const Solution expected = CpuEngine(matrix, {}).solve({}, few);
    for (const std::string kernel : {"balanced", "blocked"}) {
      for (const int threads : {1, 2, 3, 0}) {
        CAPTURE(kernel);
        CAPTURE(threads);
        gpu::Engine engine(matrix,
                           {.kernel = kernel, .threads = threads, .upload_stretch = 100'000});
        const Solution found = engine.solve({}, few);
        CHECK(l1_distance(found.scores, expected.scores) < 1e-12);
        // Of out-weights and offsets as they came.
        CHECK(found.error_bound == doctest::Approx(expected.error_bound).epsilon(1e-9));
        gpu::Engine single(matrix, {.kernel = kernel,
                                    .precision = Precision::float32,
                                    .threads = threads,
                                    .upload_stretch = 100'000});
        CHECK(l1_distance(single.solve({}, few).scores, expected.scores) < 1e-5);
      }
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
