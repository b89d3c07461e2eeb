// Every engine, kernel and precision over the same graphs, against the plain reference
// implementation and against references computed elsewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/reference.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/engine_expectation.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

namespace {

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

TEST_SUITE_END();
}  // namespace pagerank::tests
