// Engines on GPUs whose blocks have less shared memory than the one at hand.
#include <doctest/doctest.h>

#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/shared_memory_limit.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

TEST_CASE("a GPU with less shared memory ranks graphs that nobody chose a kernel for") {
  if (tested_engines() != "gpu") return;
  const EdgeList edges = graph_of_row_lengths(3000, {1, 9, 0, 200}, 17);
  const std::vector<double> exact = reference_pagerank(edges, 0.85);
  for (const std::size_t bytes : smaller_shared_memories) {
    CAPTURE(bytes);
    const SharedMemoryLimit limit(bytes);
    gpu::Engine engine(make_transition_matrix(edges), {});
    const Solution solution = engine.solve({}, {.tolerance = 1e-12});
    CHECK(solution.converged);
    CHECK(l1_distance(solution.scores, exact) <= 1e-12);
  }
}

TEST_CASE("a GPU with less shared memory goes over to the other kernel in the middle of a solve") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix =
      make_transition_matrix(generate_graph({.kind = GraphKind::citation,
                                             .nodes = 1 << 19,
                                             .links = 1 << 23,
                                             .seed = 3,
                                             .scramble = true}));
  const Problem problem{.alpha = 0.99};
  const SolveOptions options{.tolerance = 1e-8};
  gpu::EngineOptions of_engine{.expected = {.alpha = problem.alpha, .tolerance = options.tolerance},
                               .precision = Precision::mixed};
  const gpu::SharedMemory of_h100;
  for (const std::size_t bytes : smaller_shared_memories) {
    CAPTURE(bytes);
    REQUIRE(gpu::choose_kernel(gpu::HostSampler(matrix), Precision::mixed, of_engine.expected,
                               {.shared_memory = of_h100.within(bytes)})
                .doubtful());
    const SharedMemoryLimit limit(bytes);
    gpu::Engine engine(matrix, of_engine);
    CHECK(engine.kernel() == "balanced");
    const Solution solution = engine.solve(problem, options);
    CHECK(engine.kernel() == "blocked");
    CHECK(solution.converged);
    const Solution of_cpu = CpuEngine(matrix, {}).solve(problem, options);
    CHECK(l1_distance(solution.scores, of_cpu.scores) <= solution.error_bound + of_cpu.error_bound);
  }
}

TEST_CASE("graphs of many windows, and a row in many pieces, are laid out right") {
  if (tested_engines() != "gpu") return;
  // Of 4096 nodes: more windows than a tile is sorted by at once, and a row of links out of all.
  const SharedMemoryLimit limit(20 << 10);
  for (GraphRecipe graph :
       {GraphRecipe{.kind = GraphKind::uniform, .nodes = 5U << 19, .links = 5U << 20},
        GraphRecipe{.kind = GraphKind::hub, .nodes = 1U << 20}}) {
    CAPTURE(graph.nodes);
    for (const bool weighted : {false, true}) {
      CAPTURE(weighted);
      graph.weighted = weighted;
      const TransitionMatrix matrix = make_transition_matrix(generate_graph(graph));
      const SolveOptions options{.tolerance = 1e-10};
      const Solution of_cpu = CpuEngine(matrix, {}).solve({}, options);
      gpu::Engine engine(matrix, {.kernel = "blocked", .precision = Precision::mixed});
      const Solution solution = engine.solve({}, options);
      CHECK(solution.converged);
      CHECK(l1_distance(solution.scores, of_cpu.scores) <=
            solution.error_bound + of_cpu.error_bound);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
