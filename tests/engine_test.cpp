// What every engine, kernel and precision returns from a solve, and when it ends.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_expectation.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

TEST_CASE("an engine solves again and again, and gives the same bits each time") {
  const EdgeList edges = with_random_weights(graph_of_row_lengths(5000, {0, 1, 33, 5}, 12), 13);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const double tolerance = expectation(engine_case).tolerance;
    const auto engine = engine_case.make(matrix);
    if (!engine || !engine_case.same_bits) continue;
    const Solution first = engine->solve({}, {.tolerance = tolerance});
    const Solution other = engine->solve({.alpha = 0.5}, {.tolerance = tolerance});
    const Solution again = engine->solve({}, {.tolerance = tolerance});
    const Solution fresh = engine_case.make(matrix)->solve({}, {.tolerance = tolerance});
    CHECK(other.scores != first.scores);
    for (const Solution* same : {&again, &fresh}) {
      CHECK(same->scores == first.scores);
      CHECK(same->changes == first.changes);
      CHECK(same->error_bound == first.error_bound);
    }
  }
}

TEST_CASE("mixed precision makes no correction where floats reach the tolerance") {
  const TransitionMatrix matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 14, .links = 1 << 18}));
  const std::vector<std::string> kernels = tested_engines() == "cpu"
                                               ? std::vector<std::string>{"cpu"}
                                               : std::vector<std::string>{"balanced", "blocked"};
  for (const std::string& kernel : kernels) {
    CAPTURE(kernel);
    const auto solve = [&](Precision precision, double tolerance) -> Solution {
      if (kernel == "cpu") {
        return CpuEngine(matrix, {.precision = precision}).solve({}, {.tolerance = tolerance});
      }
      gpu::Engine engine(matrix, {.kernel = kernel, .precision = precision});
      return engine.solve({}, {.tolerance = tolerance});
    };
    for (const double tolerance : {1e-3, 1e-6}) {
      CAPTURE(tolerance);
      const Solution mixed = solve(Precision::mixed, tolerance);
      CHECK(mixed.converged);
      CHECK(mixed.scores == solve(Precision::float32, tolerance).scores);
    }
    const Solution mixed = solve(Precision::mixed, 1e-11);
    CHECK(mixed.converged);
    CHECK_FALSE(solve(Precision::float32, 1e-11).converged);
  }
}

TEST_CASE("the bound is that of the scores that are returned, also where it took several tries") {
  // Enough nodes for scores to be fetched while they are certified.
  const TransitionMatrix matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::citation, .nodes = 1 << 19, .links = 1 << 21}));
  const Problem problem;
  const std::vector<std::pair<Precision, double>> cases = {
      {Precision::float32, 1e-6}, {Precision::float32, 1e-9},  {Precision::mixed, 1e-6},
      {Precision::mixed, 1e-11},  {Precision::float64, 1e-11}, {Precision::float64, 1e-17}};
  for (const auto& each : cases) {
    const Precision precision = each.first;
    const double tolerance = each.second;
    for (const std::uint32_t most : {3U, 1000U}) {
      CAPTURE(static_cast<int>(precision));
      CAPTURE(tolerance);
      CAPTURE(most);
      const auto engine = [&]() -> std::unique_ptr<Engine> {
        if (tested_engines() == "cpu") {
          return std::make_unique<CpuEngine>(matrix, CpuEngineOptions{.precision = precision});
        }
        return std::make_unique<gpu::Engine>(matrix, gpu::EngineOptions{.precision = precision});
      }();
      const Solution solution =
          engine->solve(problem, {.tolerance = tolerance, .max_iterations = most});
      const double bound =
          error_from_residual(problem.alpha, residual_l1(matrix, problem, solution.scores));
      CHECK(solution.error_bound == doctest::Approx(bound).epsilon(1e-3));
    }
  }
}

TEST_CASE("every kernel solves in a plain loop, too") {
  if (tested_engines() != "gpu") return;
  const EdgeList edges = with_random_weights(graph_of_row_lengths(3000, {0, 1, 33, 5}, 14), 15);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  const std::vector<double> exact = reference_pagerank(edges);
  for (const gpu::Kernel& kernel : gpu::kernels()) {
    CAPTURE(std::string(kernel.name));
    if (kernel.name == "ell") continue;  // refuses these rows
    for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
      gpu::Engine engine(
          matrix,
          {.kernel = std::string(kernel.name), .precision = precision, .device_loop = false});
      const double tolerance = precision == Precision::float32 ? 1e-5 : 1e-12;
      const Solution solution = engine.solve({}, {.tolerance = tolerance});
      CHECK(solution.converged);
      CHECK(l1_distance(solution.scores, exact) <= solution.error_bound + 1e-14);
    }
  }
}

TEST_CASE("the plain loop and the device's give the same bits") {
  if (tested_engines() != "gpu") return;
  const TransitionMatrix matrix = make_transition_matrix(graph_of_row_lengths(3000, {0, 1, 9}, 16));
  for (const gpu::Kernel& kernel : gpu::kernels()) {
    if (kernel.name == "ell" || !kernel.same_bits) continue;
    CAPTURE(std::string(kernel.name));
    const auto solve = [&](bool device_loop) {
      gpu::Engine engine(matrix, {.kernel = std::string(kernel.name),
                                  .precision = Precision::mixed,
                                  .device_loop = device_loop});
      // Under a sanitizer it must not. (Drivers before 12.4 cannot, and fail here.)
      if (std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") == nullptr) {
        CHECK(engine.loops_on_device() == device_loop);
      }
      return engine.solve({}, {.tolerance = 1e-10});
    };
    const Solution plain = solve(false), device = solve(true);
    CHECK(plain.scores == device.scores);
    CHECK(plain.changes == device.changes);
  }
}

TEST_CASE("a request to stop ends a solve on every engine within a few iterations") {
  const EdgeList edges = graph_of_row_lengths(3000, {0, 1, 33, 5}, 18);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const auto engine = engine_case.make(matrix);
    if (!engine) continue;
    std::stop_source stop;
    std::uint32_t seen = 0;
    const Solution solution =
        engine->solve({.alpha = 0.999999}, {.tolerance = 1e-9,
                                            .max_iterations = 100'000,
                                            .observer =
                                                [&](const Progress& progress) {
                                                  seen = progress.iteration;
                                                  if (seen == 3) stop.request_stop();
                                                },
                                            .stop = stop.get_token()});
    CHECK_FALSE(solution.converged);
    CHECK(solution.iterations == seen);
    CHECK(solution.iterations <= 32);
    CHECK(solution.error_bound > 1e-9);
  }
}

TEST_CASE("scores sum to 1 and the history shrinks by alpha or better") {
  const EdgeList edges = graph_of_row_lengths(5000, {0, 1, 33, 5}, 21);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const bool is_double = engine_case.precision != Precision::float32;
    // Where mixed precision goes over to a correction it finds what floats had rounded away.
    const double slack = engine_case.precision == Precision::float64 ? 1.0001 : 1.5;
    const double tolerance = is_double ? 1e-10 : 1e-5;
    const auto engine = engine_case.make(matrix);
    if (!engine) continue;
    const Solution solution = engine->solve({}, {.tolerance = tolerance});
    double sum = 0;
    for (const double score : solution.scores) sum += score;
    CHECK(sum == doctest::Approx(1).epsilon(1e-13));
    for (std::size_t k = 1; k < solution.changes.size(); ++k) {
      CHECK(solution.changes[k] <= 0.85 * solution.changes[k - 1] * slack);
    }
  }
}

TEST_CASE("changes that shrink more slowly than floats round do not end a solve too early") {
  struct Star {  // whose changes shrink by alpha each time, no more
    NodeId leaves;
    double alpha, tolerance;
  };
  // The last one's correction begins with changes far above the least ones before it.
  for (const Star& star : {Star{7, 0.98, 1e-6}, Star{53, 0.98, 1e-6}, Star{53, 0.9999, 1e-2}}) {
    const NodeId leaves = star.leaves;
    std::vector<std::pair<NodeId, NodeId>> links;
    for (NodeId leaf = 1; leaf <= leaves; ++leaf) {
      links.emplace_back(leaf, 0);
      links.emplace_back(0, leaf);
    }
    const TransitionMatrix matrix = make_transition_matrix(make_graph(leaves + 1, links));
    // hub = alpha (leaves) + (1 - alpha) / n, and hub and leaves together are 1.
    const double base = (1 - star.alpha) / (leaves + 1.0);
    const double hub = (star.alpha + base) / (1 + star.alpha);
    std::vector<double> exact(leaves + 1, (1 - hub) / leaves);
    exact[0] = hub;
    for (const EngineCase& engine_case : engine_cases()) {
      CAPTURE(leaves);
      CAPTURE(star.alpha);
      CAPTURE(engine_case.name);
      if (engine_case.precision == Precision::float32) continue;
      if (star.alpha > 0.99 && engine_case.precision != Precision::mixed) continue;
      const auto engine = engine_case.make(matrix);
      if (!engine) continue;
      const Solution solution =
          engine->solve({.alpha = star.alpha},
                        {.tolerance = star.tolerance, .max_iterations = std::uint32_t{1} << 20});
      CHECK(solution.converged);
      CHECK(l1_distance(solution.scores, exact) <= star.tolerance);
    }
  }
}

TEST_CASE("an iteration limit that is too small gives scores and an honest bound") {
  const EdgeList edges = graph_of_row_lengths(5000, {0, 1, 33, 5}, 22);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  const std::vector<double> exact = reference_pagerank(edges);
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const auto engine = engine_case.make(matrix);
    if (!engine) continue;
    const Solution solution = engine->solve({}, {.tolerance = 1e-9, .max_iterations = 4});
    CHECK_FALSE(solution.converged);
    CHECK(solution.iterations == 4);
    const double distance = l1_distance(solution.scores, exact);
    CHECK(distance > 1e-9);
    CHECK(solution.error_bound >= distance);
    CHECK(solution.error_bound < 100 * distance);
  }
}

TEST_CASE("a tolerance that the precision cannot reach ends soon, unconverged, with its bound") {
  const EdgeList edges = graph_of_row_lengths(5000, {0, 1, 33, 5}, 23);
  const TransitionMatrix matrix = make_transition_matrix(edges);
  const std::vector<double> exact = reference_pagerank(edges);
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const bool is_double = engine_case.precision != Precision::float32;
    const auto engine = engine_case.make(matrix);
    if (!engine) continue;
    const Solution solution = engine->solve({}, {.tolerance = is_double ? 1e-17 : 1e-9});
    CHECK_FALSE(solution.converged);
    CHECK(solution.iterations < 500);
    CHECK(solution.error_bound < (is_double ? 1e-12 : 4e-6));
    CHECK(solution.error_bound >= l1_distance(solution.scores, exact));
  }
}

TEST_CASE("the assignment's rule: every engine refuses zero columns and solves without them") {
  const TransitionMatrix dangling = make_transition_matrix(make_graph(3, {{0, 1}, {1, 2}}));
  const EdgeList closed_edges = make_graph(3, {{0, 1}, {1, 2}, {2, 0}, {2, 1}});
  const TransitionMatrix closed = make_transition_matrix(closed_edges);
  const Problem assignment{.dangling = DanglingPolicy::error};
  for (const EngineCase& engine_case : engine_cases()) {
    CAPTURE(engine_case.name);
    const auto refusing = engine_case.make(dangling);
    REQUIRE(refusing);
    CHECK_THROWS_AS((void)refusing->solve(assignment, {}), DanglingNodesError);
    const Expectation expected = expectation(engine_case);
    check_solution(engine_case.make(closed)->solve(assignment, {.tolerance = expected.tolerance}),
                   reference_pagerank(closed_edges), expected);
  }
}

TEST_CASE("an engine of an empty graph is refused") {
  const TransitionMatrix empty = make_transition_matrix({});
  for (const EngineCase& engine_case : engine_cases()) {
    CHECK_THROWS_AS((void)engine_case.make(empty), std::invalid_argument);
  }
}

TEST_CASE("an engine names its device") {
  const TransitionMatrix matrix = make_transition_matrix(make_graph(2, {{0, 1}}));
  for (const EngineCase& engine_case : engine_cases()) {
    const auto engine = engine_case.make(matrix);
    REQUIRE(engine);
    const std::string device = engine->device();
    CHECK(device.find(tested_engines() == "gpu" ? "NVIDIA" : "CPU, ") == 0);
  }
}

TEST_CASE("GPU engines that cannot be had say why") {
  const TransitionMatrix matrix = make_transition_matrix(make_graph(2, {{0, 1}}));
  if (gpu::kernels().empty()) {
    CHECK(gpu::unavailable_reason().find("without CUDA") != std::string::npos);
    CHECK(gpu::devices().empty());
    CHECK_THROWS_AS(gpu::Engine(matrix, {}), gpu::NotCompiled);
    return;
  }
  CHECK_THROWS_AS(gpu::Engine(matrix, {.kernel = "no such kernel"}), std::invalid_argument);
  CHECK_THROWS_AS(gpu::Engine(matrix, {.device = 99}), gpu::NoDevice);
  CHECK_FALSE(gpu::unavailable_reason(99).empty());
  if (tested_engines() == "gpu") {
    const TransitionMatrix star = make_transition_matrix(graphs()[5].edges);
    CHECK_THROWS_AS(gpu::Engine(star, {.kernel = "ell"}), gpu::KernelRefused);
    REQUIRE_FALSE(gpu::devices().empty());
    CHECK(gpu::devices().front().memory > 0);
    CHECK(gpu::Engine(matrix, {}).kernel() == gpu::kernels().front().name);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
