// Engines on GPUs whose blocks have less shared memory than the one at hand.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "gpu/blocked_shape.hpp"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/shared_memory_limit.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
namespace {

/// Calls visit(matrix) for R-MAT of so many links and a hub, without weights and with.
template <class Visit>
void for_each_scrambled(NodeId nodes, std::uint64_t links_of_rmat, Visit visit) {
  for (GraphRecipe graph : {GraphRecipe{.kind = GraphKind::rmat, .links = links_of_rmat},
                            GraphRecipe{.kind = GraphKind::hub}}) {
    graph.nodes = nodes;
    graph.scramble = true;
    for (const bool weighted : {false, true}) {
      CAPTURE(static_cast<int>(graph.kind));
      CAPTURE(weighted);
      graph.weighted = weighted;
      visit(make_transition_matrix(generate_graph(graph)));
    }
  }
}

/// The least memory, to a tenth, that the engine can be made in.
std::size_t least_memory(const TransitionMatrix& matrix, gpu::EngineOptions options) {
  options.memory_limit = std::size_t{1} << 20;
  for (;;) {
    REQUIRE(options.memory_limit < std::size_t{1} << 30);  // of graphs that take a tenth of that
    try {
      const gpu::Engine engine(matrix, options);
      return options.memory_limit;
    } catch (const OutOfMemory&) {
      options.memory_limit += options.memory_limit / 10;
    }
  }
}

}  // namespace

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
  struct Case {
    Precision precision;
    std::size_t shared_memory;
  };
  // Windows of 4096 nodes: more than a tile is sorted by at once, and a row of links out of all.
  // What a layout lacks no correction mends in double; in mixed precision it takes iterations.
  const Case cases[] = {{Precision::float64, 36 << 10}, {Precision::mixed, 20 << 10}};
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
      for (const Case& each : cases) {
        CAPTURE(each.shared_memory);
        const SharedMemoryLimit limit(each.shared_memory);
        const auto solve = [&](const char* kernel) {
          gpu::Engine engine(matrix, {.kernel = kernel, .precision = each.precision});
          return engine.solve({}, options);
        };
        const Solution solution = solve("blocked"), plain = solve("balanced");
        CHECK(solution.converged);
        CHECK(l1_distance(solution.scores, of_cpu.scores) <=
              solution.error_bound + of_cpu.error_bound);
        const double apart = std::abs(static_cast<double>(solution.iterations) - plain.iterations);
        CHECK(apart <= (each.precision == Precision::float64 ? 1 : 2));
      }
    }
  }
}

TEST_CASE("blocked gives the same bits each time where links lead from window to window") {
  if (tested_engines() != "gpu") return;
  constexpr NodeId nodes = 1U << 19;
  static_assert(nodes > 8 * gpu::blocked_shape(sizeof(float)).window_size);  // no larger anywhere
  for_each_scrambled(nodes, 1U << 22, [&](const TransitionMatrix& matrix) {
    // With all there is, and so little that the hub has many row blocks.
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{40} << 10}) {
      for (const Precision precision : {Precision::float64, Precision::float32}) {
        CAPTURE(bytes);
        CAPTURE(static_cast<int>(precision));
        const SharedMemoryLimit limit(bytes);
        const gpu::EngineOptions of_engine{.kernel = "blocked", .precision = precision};
        gpu::Engine engine(matrix, of_engine);
        const SolveOptions options{.tolerance = 1e-6};
        const Solution first = engine.solve({}, options), again = engine.solve({}, options);
        const Solution fresh = gpu::Engine(matrix, of_engine).solve({}, options);
        for (const Solution* same : {&again, &fresh}) {
          CHECK(same->scores == first.scores);
          CHECK(same->changes == first.changes);
        }
      }
    }
  });
}

TEST_CASE("blocked is laid out to the same bits whichever of its streams is late") {
  if (tested_engines() != "gpu") return;
  struct LateStream {
    explicit LateStream(gpu::LayoutStream which) { gpu::delay(which); }
    ~LateStream() { gpu::delay(gpu::LayoutStream::none); }
    LateStream(const LateStream&) = delete;
    LateStream& operator=(const LateStream&) = delete;
  };
  constexpr NodeId nodes = 1U << 17;
  for_each_scrambled(nodes, 1U << 21, [&](const TransitionMatrix& matrix) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const SharedMemoryLimit limit(std::size_t{40} << 10);  // many windows
      gpu::EngineOptions of_engine{.kernel = "blocked", .precision = precision};
      // Memory for all steps, and so little that it is given back, which waits, before the fills.
      for (const std::size_t memory : {std::size_t{0}, least_memory(matrix, of_engine)}) {
        of_engine.memory_limit = memory;
        CAPTURE(memory);
        CAPTURE(static_cast<int>(precision));
        const auto solve_with = [&](gpu::LayoutStream late) {
          const LateStream stream(late);
          return gpu::Engine(matrix, of_engine).solve({}, {.tolerance = 1e-5});
        };
        const Solution expected = solve_with(gpu::LayoutStream::none);
        CHECK(expected.converged);
        for (const auto late : {gpu::LayoutStream::first, gpu::LayoutStream::beside}) {
          CAPTURE(static_cast<int>(late));
          const Solution found = solve_with(late);
          CHECK(found.scores == expected.scores);
          CHECK(found.changes == expected.changes);
        }
      }
    }
  });
}

TEST_CASE("blocked refuses too little shared memory, and who asked for no kernel gets another") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(generate_graph(
      {.kind = GraphKind::rmat, .nodes = 1U << 18, .links = 1U << 22, .scramble = true}));
  constexpr std::size_t enough = 25 << 10, too_few = 20 << 10;  // for doubles
  const gpu::ExpectedWork work{.solves = 1000};
  REQUIRE(gpu::choose_kernel(gpu::HostSampler(matrix), Precision::float64, work,
                             {.shared_memory = gpu::SharedMemory{}.within(too_few)})
              .kernel == "blocked");
  const SolveOptions options{.tolerance = 1e-10};
  const Solution of_cpu = CpuEngine(matrix, {}).solve({}, options);
  const auto check = [&](const gpu::EngineOptions& of_engine, const char* kernel) {
    gpu::Engine engine(matrix, of_engine);
    CHECK(engine.kernel() == kernel);
    const Solution solution = engine.solve({}, options);
    CHECK(solution.converged);
    CHECK(l1_distance(solution.scores, of_cpu.scores) <= solution.error_bound + of_cpu.error_bound);
  };
  {
    const SharedMemoryLimit limit(too_few);
    CHECK_THROWS_WITH_AS(gpu::Engine(matrix, {.kernel = "blocked"}),
                         "kernel blocked: 20480 bytes of shared memory are too few",
                         gpu::KernelRefused);
    check({.expected = work}, "balanced");
    check({.kernel = "blocked", .precision = Precision::mixed}, "blocked");
  }
  const SharedMemoryLimit limit(enough);
  check({.expected = work}, "blocked");
}

TEST_SUITE_END();
}  // namespace pagerank::tests
