// Engines on a GPU of which they may have little memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <regex>
#include <thread>

#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "gpu/held_memory.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

TEST_CASE("a graph that does not fit into the GPU's memory is refused with both numbers") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(graph_of_row_lengths(3000, {1, 9}, 17));
  for (const gpu::Kernel& kernel : gpu::kernels()) {
    CAPTURE(std::string(kernel.name));
    gpu::EngineOptions options{.kernel = std::string(kernel.name), .memory_limit = 1000};
    std::string message;
    try {
      gpu::Engine engine(matrix, options);
    } catch (const OutOfMemory& error) {
      message = error.what();
    }
    CHECK(message.find(" 1000 ") != std::string::npos);
    std::smatch match;
    REQUIRE(std::regex_search(message, match, std::regex("([0-9]{5,})")));
    const std::size_t needed = std::stoull(match[1]);
    CHECK(needed > matrix.link_count() * 4 + std::size_t{matrix.node_count()} * 24);
    options.memory_limit = needed - 1;
    CHECK_THROWS_AS(gpu::Engine(matrix, options), OutOfMemory);
    options.memory_limit = needed;
    // What its preparation takes is known as it goes.
    if (kernel.name == "blocked") options.memory_limit += 32 << 20;
    CHECK_NOTHROW(gpu::Engine(matrix, options));
  }
}

TEST_CASE("an engine never holds more of the GPU's memory than it may") {
  if (tested_engines() != "gpu") return;
  EdgeList edges = graph_of_row_lengths(200'000, {1, 9}, 19);
  for (const bool weighted : {false, true}) {
    if (weighted) edges.weights.assign(edges.entry_count(), 0.5);
    const TransitionMatrix matrix = make_transition_matrix(edges);
    for (const std::string kernel : {"blocked", "balanced"}) {
      for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
        CAPTURE(weighted);
        CAPTURE(kernel);
        CAPTURE(static_cast<int>(precision));
        std::size_t made = 0, refused = 0;
        for (std::size_t limit = 8 << 20; limit <= 256 << 20; limit += limit / 3) {
          CAPTURE(limit);
          const std::size_t before = gpu::held_device_bytes;
          std::size_t most = before;
          {
            const std::jthread watch([&](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                most = std::max<std::size_t>(most, gpu::held_device_bytes);
              }
            });
            try {
              gpu::Engine engine(matrix,
                                 {.kernel = kernel, .precision = precision, .memory_limit = limit});
              CHECK(engine.solve({}, {.tolerance = 1e-4}).converged);
              ++made;
            } catch (const OutOfMemory& error) {
              CHECK(error.needed() > limit);
              CHECK(made == 0);  // more is never too little where less was enough
              ++refused;
            }
          }
          CHECK(most - before <= limit);
          CHECK(gpu::held_device_bytes == before);
        }
        CHECK(made > 0);
        CHECK(refused > 0);
      }
    }
  }
}

TEST_CASE("blocked is laid out in hardly more memory than its largest step takes") {
  if (tested_engines() != "gpu") return;
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const TransitionMatrix matrix =
        make_transition_matrix(generate_graph({.kind = GraphKind::uniform,
                                               .nodes = 1 << 19,
                                               .links = 1 << 24,
                                               .scramble = true,
                                               .weighted = weighted}));
    const std::size_t links = matrix.link_count(), nodes = matrix.node_count();
    // The graph; columns ordered and not, their order, ids; 3 in 10 links begin a run.
    const std::size_t of_link = (weighted ? 4 + 8 + 4 : 4) + 4 + 2 + 2 + 4 + (weighted ? 8 : 0);
    gpu::EngineOptions options{.kernel = "blocked", .precision = Precision::float32};
    const SolveOptions to_tolerance{.tolerance = 1e-5};
    const Solution expected = gpu::Engine(matrix, options).solve({}, to_tolerance);
    options.memory_limit = links * of_link + nodes * 100 + (16 << 20);
    gpu::Engine engine(matrix, options);
    CHECK(engine.solve({}, to_tolerance).scores == expected.scores);
  }
}

TEST_CASE("many solves are worth blocked, but where memory is short balanced does them") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(generate_graph(
      {.kind = GraphKind::rmat, .nodes = 1 << 17, .links = 1 << 22, .scramble = true}));
  gpu::EngineOptions options;
  options.precision = Precision::mixed;
  options.expected.solves = 1000;
  const auto engine_of = [&](const std::string& kernel, std::size_t limit) {
    options.kernel = kernel;
    options.memory_limit = limit;
    return gpu::Engine(matrix, options);
  };
  std::size_t limit = 1;
  try {
    engine_of("balanced", limit);
  } catch (const OutOfMemory& error) {
    limit = error.needed();
  }
  const SolveOptions to_tolerance{.tolerance = 1e-10};
  gpu::Engine balanced = engine_of("balanced", limit);
  const Solution expected = balanced.solve({}, to_tolerance);
  REQUIRE(expected.converged);
  int with_balanced = 0, with_blocked = 0;
  for (; with_blocked < 2 && limit < std::size_t{1} << 31; limit += limit / 20) {
    CAPTURE(limit);
    gpu::Engine engine = engine_of("auto", limit);
    const bool blocked = engine.kernel() == "blocked";
    CHECK(engine.kernel() == (blocked ? "blocked" : "balanced"));
    const Solution found = engine.solve({}, to_tolerance);
    CHECK(found.converged);
    CHECK(l1_distance(found.scores, expected.scores) < 2e-10);
    if (!blocked) {
      CHECK(with_blocked == 0);
      CHECK(found.scores == expected.scores);
    }
    ++(blocked ? with_blocked : with_balanced);
  }
  CHECK(with_balanced > 1);
  CHECK(with_blocked == 2);
  CHECK(engine_of("", 0).kernel() == "blocked");
}

TEST_CASE("where memory is short no other kernel comes late, and what comes keeps to the limit") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(generate_graph(
      {.kind = GraphKind::citation, .nodes = 1 << 20, .links = 1 << 24, .scramble = true}));
  const Problem problem{.alpha = 0.98};
  gpu::EngineOptions options{.expected = {.alpha = problem.alpha}, .precision = Precision::mixed};
  options.memory_limit = 1;
  try {
    gpu::Engine(matrix, options);
  } catch (const OutOfMemory& error) {
    options.memory_limit = error.needed();
  }
  REQUIRE(options.memory_limit > 1);
  const std::size_t before = gpu::held_device_bytes;
  const SolveOptions to_tolerance{.tolerance = 1e-10};
  const Solution expected = CpuEngine(matrix, {}).solve(problem, to_tolerance);
  int stayed = 0, changed = 0;
  for (; changed < 2 && options.memory_limit < std::size_t{1} << 32;
       options.memory_limit += options.memory_limit / 8) {
    CAPTURE(options.memory_limit);
    std::atomic<std::size_t> most = 0;
    {
      const std::jthread watch([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          most = std::max<std::size_t>(most, gpu::held_device_bytes);
        }
      });
      gpu::Engine engine(matrix, options);
      CHECK(engine.kernel() == "balanced");
      const Solution found = engine.solve(problem, to_tolerance);
      CHECK(found.converged);
      CHECK(l1_distance(found.scores, expected.scores) < 2e-10);
      ++(engine.kernel() == "blocked" ? changed : stayed);
    }
    CHECK(most - before <= options.memory_limit);
    CHECK(gpu::held_device_bytes == before);
  }
  CHECK(stayed > 1);
  CHECK(changed == 2);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
