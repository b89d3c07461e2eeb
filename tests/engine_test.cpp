// Every engine, kernel and precision over the same graphs, against the plain reference
// implementation and against references computed elsewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "gpu/pagerank.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

namespace {

/// What is asked for, and what must come. In double that is the same. In float, rounding alone
/// moves the scores by up to 2^-24 / (1 - alpha) for each vector that is rounded, and the
/// certificate can be several times that: worst where a hub and its leaves lock into a cycle of two
/// roundings.
struct Expectation {
  double tolerance;
  double bound;
  double distance;
};
Expectation expectation(const EngineCase& engine, double alpha = 0.85) {
  if (engine.precision == Precision::float64) return {1e-12, 1e-12, 1e-12};
  // A library that loses links of long rows in float brings no correction nearer.
  if (engine.precision == Precision::mixed) {
    return engine.library ? Expectation{1e-8, 1e-3, 1e-3} : Expectation{1e-12, 1e-12, 1e-12};
  }
  if (engine.library) return {1e-6, 1e-3, 1e-3};
  const double rounding = std::max(1.0, 0.15 / (1 - alpha));
  return {1e-6, 4e-6 * rounding, 2e-6 * rounding};
}

void check_solution(const Solution& solution, const std::vector<double>& exact,
                    const Expectation& expected) {
  CHECK(solution.converged == (solution.error_bound <= expected.tolerance));
  CHECK(solution.error_bound <= expected.bound);
  CHECK(solution.iterations == solution.changes.size());
  const double distance = l1_distance(solution.scores, exact);
  CHECK(distance <= expected.distance);
  CHECK(distance <= solution.error_bound + 1e-14);  // the reference's own digits
}

bool in_reach_of_floats(const EdgeList& edges) {
  return std::all_of(edges.weights.begin(), edges.weights.end(), [](double weight) {
    const auto rounded = static_cast<float>(weight);
    return weight == 0 || std::isnormal(rounded);
  });
}

/// Solves with every engine; checks against `exact`, and that all that converge take the same
/// number of iterations: the cheapest guard against a kernel that skips rows. Rounding may decide a
/// last iteration in float, hence one more or less there; in mixed precision, one at each
/// correction. Nor does mixed precision take more than double, unless the graph has parts that
/// begin with just their share of the ranks (`shares_from_start`): in double nothing moves between
/// them, but floats' rounding does, and that shrinks by alpha an iteration.
void check_engines(const EdgeList& edges, const std::vector<double>& exact, double alpha,
                   std::uint32_t double_slack = 0, bool shares_from_start = false) {
  const TransitionMatrix matrix = make_transition_matrix(edges);
  std::map<Precision, std::pair<std::uint32_t, std::uint32_t>> iterations;  // least, most
  for (const EngineCase& engine : engine_cases()) {
    CAPTURE(engine.name);
    const Expectation expected = expectation(engine, alpha);
    const auto prepared = engine.make(matrix);
    if (!prepared) continue;
    const Solution solution = prepared->solve({.alpha = alpha}, {.tolerance = expected.tolerance});
    check_solution(solution, exact, expected);
    if (!solution.converged) continue;
    // How far a library's floats bring x before a correction is its affair.
    if (engine.precision == Precision::mixed &&
        (engine.library || shares_from_start || !in_reach_of_floats(edges))) {
      continue;
    }
    // Nor what it adds up in another order each time: of 10^5 terms the last digits are a tenth of
    // a change of 1e-13.
    if (!engine.same_bits) continue;
    auto [at, first] =
        iterations.try_emplace(engine.precision, solution.iterations, solution.iterations);
    at->second.first = std::min(at->second.first, solution.iterations);
    at->second.second = std::max(at->second.second, solution.iterations);
  }
  // In float the CPU engine's layouts round apart by one more.
  const std::uint32_t more = tested_engines() == "cpu" ? 1 : 0;
  const std::map<Precision, std::uint32_t> slack = {
      {Precision::float64, double_slack}, {Precision::mixed, 2}, {Precision::float32, 1 + more}};
  for (const auto& [each, range] : iterations) {
    const Precision precision = each;
    CAPTURE(static_cast<int>(precision));
    CHECK(range.second - range.first <= slack.at(precision));
  }
  const auto in_double = iterations.find(Precision::float64);
  const auto in_mixed = iterations.find(Precision::mixed);
  if (in_double == iterations.end() || in_mixed == iterations.end()) return;
  // One more if double has the exact ranks at once: it takes one to see that.
  CHECK(in_mixed->second.second <= std::max(in_double->second.second, 2U));
}

std::vector<double> read_reference(const fs::path& path) {
  std::istringstream text(read_file(path));
  std::vector<double> scores;
  for (std::string line; std::getline(text, line);) scores.push_back(std::stod(line));
  return scores;
}

EdgeList read_graph(const fs::path& path, SourceIndex source) {
  io::ByteSource bytes(path.string());
  return io::read_matrix_market(bytes, source).edges;
}

}  // namespace

TEST_CASE("every engine agrees with the reference on graphs of every shape") {
  for (const NamedGraph& graph : graphs()) {
    CAPTURE(graph.name);
    check_engines(graph.edges, reference_pagerank(graph.edges, 0.85), 0.85, 0,
                  graph.name.starts_with("self loops"));
  }
}

TEST_CASE("every engine agrees with the reference for other damping factors") {
  const EdgeList edges = graph_of_row_lengths(3000, {0, 1, 4, 40}, 9);
  for (const double alpha : {0.0, 0.1, 0.5, 0.99}) {
    CAPTURE(alpha);
    check_engines(edges, reference_pagerank(edges, alpha), alpha);
  }
}

TEST_CASE("out-weights of very many links keep the certificate true") {
  // Sums of 10^5 weights by plain addition are off by more than the bound of a solve to 1e-12.
  constexpr NodeId leaves = 100'000;
  for (const double weight : {0.1, 1.1e-16}) {
    CAPTURE(weight);
    EdgeList edges;
    edges.node_count = leaves + 2;
    const auto link = [&edges](NodeId source, NodeId target, double w) {
      edges.add_entry(SourceIndex::row, source, target);
      edges.weights.push_back(w);
    };
    link(0, 1, 1);
    for (NodeId leaf = 2; leaf < leaves + 2; ++leaf) link(0, leaf, weight);
    for (NodeId node = 1; node < leaves + 2; ++node) link(node, 0, 1);
    // At the limit of double, where not every kernel compensates its sums, the last digit may too.
    check_engines(edges, reference_pagerank(edges), 0.85, 1);
  }
  EdgeList repeats = make_graph(3, {{0, 2}, {1, 0}, {2, 0}}, {1, 1, 1});
  for (NodeId i = 0; i < leaves; ++i) {
    repeats.add_entry(SourceIndex::row, 0, 1);
    repeats.weights.push_back(0.1);
  }
  check_engines(repeats, reference_pagerank(repeats), 0.85);
}

TEST_CASE(
    "a graph so large that many threads bring it to the GPU in pieces is ranked no other way") {
  if (tested_engines() != "gpu") return;
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const TransitionMatrix matrix = make_transition_matrix(generate_graph(
        {.kind = GraphKind::web, .nodes = 1 << 20, .links = 1 << 24, .weighted = weighted}));
    const Solution on_host = CpuEngine(matrix, {}).solve({}, {.tolerance = 1e-12});
    REQUIRE(on_host.converged);
    const std::vector<double> exact(on_host.scores.begin(), on_host.scores.end());
    for (const EngineCase& engine : engine_cases()) {
      CAPTURE(engine.name);
      const auto prepared = engine.make(matrix);
      if (!prepared) continue;
      const Expectation expected = expectation(engine);
      check_solution(prepared->solve({}, {.tolerance = expected.tolerance}), exact, expected);
    }
  }
}

TEST_CASE("every engine agrees with references from elsewhere on real graphs, both readings") {
  // PAGERANK_EXTRA_GRAPHS: a directory of further graphs, with references beside them.
  std::vector<fs::path> places = {source_dir() / "data", source_dir() / "tests/data/graphs"};
  if (const char* extra = std::getenv("PAGERANK_EXTRA_GRAPHS")) places.emplace_back(extra);
  int compared = 0;
  for (const fs::path& place : places) {
    for (const fs::directory_entry& file : fs::directory_iterator(place)) {
      const std::string name = file.path().filename().string();
      const std::size_t extension = name.find(".mtx");
      if (extension == std::string::npos) continue;
      for (const auto& [suffix, source] : {std::pair{".rowsrc.ref", SourceIndex::row},
                                           std::pair{".colsrc.ref", SourceIndex::column}}) {
        const std::string reference = name.substr(0, extension) + suffix;
        for (const fs::path& path : {source_dir() / "tests/data/graphs" / (reference + ".gz"),
                                     place / reference, place / (reference + ".gz")}) {
          if (!fs::exists(path)) continue;
          CAPTURE(path.string());
          check_engines(read_graph(file.path(), source), read_reference(path), 0.85);
          ++compared;
          break;
        }
      }
    }
  }
  CHECK(compared >= 12);
}

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
