// A kernel that takes another's place in the middle of a solve: an engine goes on from where it
// was.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/kernel_change.hpp"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

constexpr EdgeIndex many_nodes = 1 << 20;
constexpr Problem slow_problem{.alpha = 0.98};

TransitionMatrix slow_graph() {
  return make_transition_matrix(scrambled_graph(GraphKind::citation, many_nodes, many_nodes * 16));
}
gpu::EngineOptions automatic(Precision precision,
                             const gpu::ExpectedWork& work = {.alpha = slow_problem.alpha}) {
  return {.expected = work, .precision = precision};
}

/// In double both kernels gain little on each other, so that it takes several solves to pay for a
/// change: three, or less where they are so many on a device's memory that there is no doubt.
std::uint32_t solves_in_doubt(const TransitionMatrix& matrix, Precision precision,
                              gpu::ExpectedWork work) {
  work.solves = precision == Precision::float64 ? 3 : 1;
  while (work.solves > 1 &&
         gpu::Engine(matrix, automatic(precision, work)).kernel() != "balanced") {
    --work.solves;
  }
  return work.solves;
}

}  // namespace

TEST_CASE("the kernel of many iterations takes over where there are many, and only there") {
  if (!has_gpu()) return;
  const std::vector<std::pair<NamedGraph, std::string>> cases = {
      {{"citations", scrambled_graph(GraphKind::citation, many_nodes, many_nodes * 16)}, "blocked"},
      {{"preferential attachment",
        scrambled_graph(GraphKind::preferential, many_nodes, many_nodes * 16)},
       "blocked"},
      {{"traps", scrambled_graph(GraphKind::traps, many_nodes, many_nodes * 16)}, "blocked"},
      {{"web", scrambled_graph(GraphKind::web, many_nodes, many_nodes * 16)}, "blocked"},
      {{"uniform", scrambled_graph(GraphKind::uniform, many_nodes, many_nodes * 16)}, "balanced"}};
  for (const auto& each : cases) {
    const NamedGraph& graph = each.first;
    const std::string& kernel = each.second;
    CAPTURE(graph.name);
    const TransitionMatrix matrix = make_transition_matrix(graph.edges);
    gpu::Engine engine(matrix, automatic(Precision::mixed));
    REQUIRE(engine.kernel() == "balanced");
    const std::uint64_t bytes = engine.bytes_per_iteration();
    CHECK(engine.solve(slow_problem, {}).converged);
    CHECK(engine.kernel() == kernel);
    CHECK((engine.bytes_per_iteration() != bytes) == (kernel == "blocked"));
  }
}

TEST_CASE("a solve that only the fourth change tells about goes over to the other kernel") {
  if (!has_gpu()) return;
  const TransitionMatrix matrix =
      make_transition_matrix(scrambled_graph(GraphKind::traps, many_nodes, many_nodes * 16));
  constexpr double alpha = 0.85;
  const double payback = gpu::choose_kernel(matrix, Precision::mixed, {.alpha = alpha}).payback;
  const std::vector<double> changes =
      CpuEngine(matrix, {.precision = Precision::mixed}).solve({}, {.tolerance = 1e-8}).changes;
  // To a tolerance to which the fourth change promises more than pays, and no other does, by far:
  // what pays hangs on the device's memory, too.
  double tolerance = 0, margin = 0;
  for (double t = 1e-2; t > 1e-7; t *= 0.95) {
    const double target = change_for_tolerance(alpha, t);
    const auto left = [&](std::size_t done) {
      return gpu::iterations_left(std::span(changes).first(done), target, alpha);
    };
    const double of_others = std::max({left(3), left(6), left(9), left(13)});
    const double apart = std::min(left(4) / payback - 1, 1 - of_others / payback);
    if (apart > margin) {
      tolerance = t;
      margin = apart;
    }
  }
  REQUIRE(margin > 0.1);
  CAPTURE(tolerance);
  gpu::Engine engine(matrix, automatic(Precision::mixed, {.alpha = alpha, .tolerance = tolerance}));
  REQUIRE(engine.kernel() == "balanced");
  CHECK(engine.solve({}, {.tolerance = tolerance}).converged);
  CHECK(engine.kernel() == "blocked");
}

TEST_CASE("a solve that slows down in the middle of a run goes over to the other kernel") {
  if (!has_gpu()) return;
  // Links at random, and few nodes that lead into traps.
  EdgeList edges = scrambled_graph(GraphKind::uniform, many_nodes, many_nodes * 16);
  for (NodeId k = 0; k < many_nodes / 2000; ++k) {
    const auto node = static_cast<NodeId>(edges.node_count);
    edges.node_count += 3;
    edges.add_entry(SourceIndex::row, node, node + 1);
    edges.add_entry(SourceIndex::row, node + 1, node + 2);
    edges.add_entry(SourceIndex::row, node + 2, node + 1);
  }
  const TransitionMatrix matrix = make_transition_matrix(edges);
  constexpr double alpha = 0.85;
  const gpu::ExpectedWork work{.alpha = alpha, .tolerance = 1e-6, .solves = 2};
  const std::vector<double> changes =
      CpuEngine(matrix, {.precision = Precision::mixed}).solve({}, {.tolerance = 1e-7}).changes;
  for (const Precision precision : {Precision::float32, Precision::mixed}) {
    CAPTURE(static_cast<int>(precision));
    const gpu::KernelChoice choice = gpu::choose_kernel(matrix, precision, work);
    // To a tolerance to which the first looks do not promise enough, and one of the next does,
    // long before it is reached.
    double tolerance = 0, margin = 0;
    for (double t = 1e-2; t > 1e-6; t *= 0.95) {
      const double target = change_for_tolerance(alpha, t);
      const std::size_t needed = 2 * (9 + choice.beside);
      if (needed >= changes.size() || changes[needed] <= target) continue;
      const auto promised = [&](std::size_t done) {
        const double left = gpu::iterations_left(std::span(changes).first(done), target, alpha);
        return left + static_cast<double>(done) + left;
      };
      const double apart = std::min(std::max(promised(6), promised(9)) / choice.payback - 1,
                                    1 - std::max(promised(3), promised(4)) / choice.payback);
      if (apart > margin) {
        tolerance = t;
        margin = apart;
      }
    }
    REQUIRE(margin > 0.1);
    CAPTURE(tolerance);
    const auto solve = [&](bool device_loop) {
      gpu::EngineOptions options = automatic(precision, work);
      options.device_loop = device_loop;
      gpu::Engine engine(matrix, options);
      REQUIRE(engine.kernel() == "balanced");
      Solution solution = engine.solve({}, {.tolerance = tolerance});
      CHECK(solution.converged);
      CHECK(engine.kernel() == "blocked");
      return solution;
    };
    const Solution by_device = solve(true), by_host = solve(false);
    CHECK(by_device.changes == by_host.changes);
    CHECK(by_device.scores == by_host.scores);
  }
}

TEST_CASE("scores and their certificates are those of a solve by one kernel") {
  if (!has_gpu()) return;
  for (const bool weighted : {false, true}) {
    const TransitionMatrix matrix = make_transition_matrix(tenth_dangling(
        scrambled_graph(GraphKind::citation, many_nodes, many_nodes * 16, weighted)));
    const Solution expected = CpuEngine(matrix, {}).solve(slow_problem, {.tolerance = 1e-12});
    struct Case {
      Precision precision;
      double tolerance;
    };
    const Case cases[] = {
        {Precision::float64, 1e-10}, {Precision::mixed, 1e-10}, {Precision::float32, 1e-4}};
    for (const Case& each : cases) {
      const Precision precision = each.precision;
      const double tolerance = each.tolerance;
      CAPTURE(weighted);
      CAPTURE(static_cast<int>(precision));
      const SolveOptions to_tolerance{.tolerance = tolerance};
      const Solution plain = gpu::Engine(matrix, {.kernel = "balanced", .precision = precision})
                                 .solve(slow_problem, to_tolerance);
      gpu::ExpectedWork work{.alpha = 0.98, .tolerance = tolerance};
      work.solves = solves_in_doubt(matrix, precision, work);
      gpu::Engine engine(matrix, automatic(precision, work));
      REQUIRE(engine.kernel() == "balanced");
      gpu::Engine twin(matrix, automatic(precision, work));
      const auto check = [&](const Solution& found) {
        CHECK(found.converged);
        CHECK(found.error_bound <= tolerance);
        CHECK(l1_distance(found.scores, expected.scores) <=
              found.error_bound + expected.error_bound);
        // Going on is no jump: the first changes are those of any solve.
        for (std::size_t k = 0; k < 12; ++k) {
          CHECK(found.changes[k] == doctest::Approx(expected.changes[k]).epsilon(1e-3));
        }
      };
      const Solution first = engine.solve(slow_problem, to_tolerance);
      check(first);
      // (Weights cost both kernels the same, so that there is less to gain from the change.)
      if (!weighted || precision == Precision::mixed) CHECK(engine.kernel() == "blocked");
      CHECK(std::abs(static_cast<double>(first.iterations) - plain.iterations) <= 1);
      CHECK(twin.solve(slow_problem, to_tolerance).scores == first.scores);
      const Solution again = engine.solve(slow_problem, to_tolerance);
      check(again);
      CHECK(again.scores == engine.solve(slow_problem, to_tolerance).scores);
    }
  }
}

TEST_CASE("a row that stands for many nodes does so for both kernels of a solve") {
  if (!has_gpu()) return;
  EdgeList edges = scrambled_graph(GraphKind::citation, many_nodes, many_nodes * 16);
  ++edges.node_count;
  TransitionMatrix matrix = make_transition_matrix(edges);
  matrix.more_unlinked = 3 * many_nodes;
  const Solution expected = CpuEngine(matrix, {}).solve(slow_problem, {.tolerance = 1e-12});
  for (const Precision precision : {Precision::float64, Precision::mixed}) {
    const bool wide = precision == Precision::float64;
    gpu::ExpectedWork work{.alpha = slow_problem.alpha};
    work.solves = solves_in_doubt(matrix, precision, work);
    gpu::Engine engine(matrix, automatic(precision, work));
    if (wide) REQUIRE(engine.kernel() == "balanced");
    const Solution found = engine.solve(slow_problem, {.tolerance = 1e-10});
    if (wide) CHECK(engine.kernel() == "blocked");
    CHECK(found.converged);
    // Each of their differences counts once; those of the nodes behind the last row are alike.
    const double distance =
        l1_distance(found.scores, expected.scores) +
        matrix.more_unlinked * std::abs(found.scores.back() - expected.scores.back());
    CHECK(distance <= found.error_bound + expected.error_bound);
  }
}

TEST_CASE("a solve that ends where the kernel would change leaves what it has reached") {
  if (!has_gpu()) return;
  const TransitionMatrix matrix = slow_graph();
  for (std::uint32_t most = 1; most <= 16; ++most) {
    CAPTURE(most);
    const SolveOptions few{.tolerance = 1e-10, .max_iterations = most};
    gpu::Engine engine(matrix, automatic(Precision::float64));
    const Solution found = engine.solve({}, few);
    CHECK(found.iterations == most);
    CHECK_FALSE(found.converged);
    CHECK(engine.kernel() == "balanced");  // so few are worth nothing
    CHECK(l1_distance(found.scores, CpuEngine(matrix, {}).solve({}, few).scores) < 1e-12);
  }
  // Stopped while the other is being prepared, of which three iterations tell.
  gpu::Engine engine(matrix, automatic(Precision::mixed));
  std::stop_source stop;
  const auto stop_early = [&](const Progress& progress) {
    if (progress.iteration == 3) stop.request_stop();
  };
  const Solution found = engine.solve(
      slow_problem, {.tolerance = 1e-10, .observer = stop_early, .stop = stop.get_token()});
  CHECK(engine.kernel() == "balanced");
  CHECK(found.iterations == 3);
  const auto exact = [&](std::uint32_t iterations) {
    return CpuEngine(matrix, {})
        .solve(slow_problem, {.tolerance = 1e-10, .max_iterations = iterations})
        .scores;
  };
  CHECK(l1_distance(found.scores, exact(found.iterations)) < 1e-6);
  // The next solve has it from the beginning.
  const Solution next = engine.solve(slow_problem, {.tolerance = 1e-10, .max_iterations = 3});
  CHECK(engine.kernel() == "blocked");
  CHECK(l1_distance(next.scores, exact(3)) < 1e-6);
}

TEST_CASE("solves that are still to come count") {
  const TransitionMatrix matrix = slow_graph();
  const auto work = [](std::uint32_t solves) {
    return gpu::ExpectedWork{.tolerance = solves > 1 ? 0.01 : 1e-8, .solves = solves};
  };
  const gpu::KernelChoice choice = gpu::choose_kernel(matrix, Precision::mixed, work(2));
  REQUIRE(choice.doubtful());
  CHECK(gpu::choose_kernel(matrix, Precision::mixed, work(1)).payback == choice.payback);
  if (!has_gpu()) return;
  const auto kernel_after = [&](std::uint32_t solves, std::uint32_t done) {
    gpu::Engine engine(matrix, automatic(Precision::mixed, work(solves)));
    // So many that one solve does not pay, and two do.
    const auto iterations = static_cast<std::uint32_t>(0.7 * choice.payback);
    for (std::uint32_t i = 0; i < done; ++i) {
      const Solution found = engine.solve({}, {.tolerance = 1e-12, .max_iterations = iterations});
      CHECK(found.iterations == iterations);
    }
    return std::string(engine.kernel());
  };
  CHECK(kernel_after(2, 0) == "balanced");
  CHECK(kernel_after(2, 1) == "blocked");
  CHECK(kernel_after(1, 1) == "balanced");
  CHECK(kernel_after(1, 3) == "balanced");
}

TEST_CASE("the matrix may be gone when the kernel is changed") {
  if (!has_gpu()) return;
  std::optional<TransitionMatrix> matrix = slow_graph();
  const Solution expected = CpuEngine(*matrix, {}).solve(slow_problem, {.tolerance = 1e-10});
  gpu::Engine engine(*matrix, automatic(Precision::mixed));
  matrix.reset();
  const Solution found = engine.solve(slow_problem, {.tolerance = 1e-10});
  CHECK(engine.kernel() == "blocked");
  CHECK(found.converged);
  CHECK(l1_distance(found.scores, expected.scores) < 2e-10);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
