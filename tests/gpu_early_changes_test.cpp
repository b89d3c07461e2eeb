// What the first changes of a solve, seen at some nodes, tell of the others: without a GPU, and
// what an engine on one makes of it.
#include "gpu/early_changes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

/// B x, link by link.
std::vector<double> multiplied(const TransitionMatrix& matrix, const std::vector<double>& x) {
  const auto& links = matrix.in_links;
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < y.size(); ++row) {
    for (EdgeIndex k = links.row_offsets[row]; k < links.row_offsets[row + 1]; ++k) {
      const NodeId source = links.column_indices[k];
      y[row] += x[source] * matrix.inverse_out_weight[source] *
                (links.values.empty() ? 1 : links.values[k]);
    }
  }
  return y;
}

/// So many nodes, and so many targets of links.
std::vector<gpu::SeenNode> seen_nodes(const TransitionMatrix& matrix, std::size_t half) {
  std::vector<std::vector<double>> walks = {std::vector<double>(matrix.node_count(), 1)};
  for (int k = 0; k < gpu::early_iterations; ++k) {
    walks.push_back(multiplied(matrix, walks.back()));
  }
  const auto& offsets = matrix.in_links.row_offsets;
  std::vector<gpu::SeenNode> seen;
  const auto see = [&](std::size_t node) {
    gpu::SeenNode& out = seen.emplace_back();
    for (int k = 0; k < gpu::early_iterations; ++k) out.walks[k] = walks[k + 1][node];
    out.in_links = offsets[node + 1] - offsets[node];
    out.dangling =
        std::binary_search(matrix.dangling.begin(), matrix.dangling.end(), NodeId(node)) ? 1 : 0;
  };
  for (std::size_t i = 0; i < half; ++i) {
    see(matrix.node_count() * i / half);
    const EdgeIndex link = matrix.link_count() * i / half;
    see(static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), link) -
                                 offsets.begin()) -
        1);
  }
  return seen;
}

TransitionMatrix uniform(std::uint64_t nodes, EdgeIndex links, bool weighted = false) {
  return make_transition_matrix(generate_graph(
      {.kind = GraphKind::uniform, .nodes = nodes, .links = links, .weighted = weighted}));
}

/// Links only of the later half: the others are dangling.
EdgeList half_dangling_citations() {
  EdgeList all = citations(1 << 17, 8, 5), late{.node_count = all.node_count};
  for (std::size_t k = 0; k < all.entry_count(); ++k) {
    if (all.sources[k] >= all.node_count / 2) {
      late.add_entry(SourceIndex::row, all.sources[k], all.targets[k]);
    }
  }
  return late;
}

}  // namespace

TEST_CASE("some nodes tell the changes that a solve begins with, and what they promise") {
  std::vector<TransitionMatrix> matrices;
  matrices.push_back(make_transition_matrix(citations(1 << 16, 16, 3)));
  matrices.push_back(make_transition_matrix(half_dangling_citations()));
  matrices.push_back(uniform(1 << 16, 1 << 18));  // some dangling, too
  matrices.push_back(uniform(1 << 15, 1 << 19, true));
  for (const TransitionMatrix& matrix : matrices) {
    // Many, and as many as are looked at on a GPU.
    const std::vector<gpu::SeenNode> many = seen_nodes(matrix, 4096),
                                     some = seen_nodes(matrix, 1024);
    for (const double alpha : {0.85, 0.5, 0.99}) {
      const std::vector<double> changes =
          CpuEngine(matrix, {}).solve({.alpha = alpha}, {.tolerance = 1e-9}).changes;
      REQUIRE(changes.size() > 4);
      for (const std::size_t last : {2, 3}) {
        const double left = changes[last] / changes[last - 1];
        const double before = changes[last - 1] / changes[last - 2];
        const auto outlook = [&](const std::vector<gpu::SeenNode>& seen) {
          return gpu::outlook_by_early_changes(seen, static_cast<int>(last) + 1,
                                               matrix.node_count(), matrix.link_count(), alpha,
                                               1e-6);
        };
        CAPTURE(matrix.node_count());
        CAPTURE(alpha);
        CAPTURE(last);
        const double more =
            std::log(change_for_tolerance(alpha, 1e-6) / changes[last]) / std::log(left);
        const double expected = static_cast<double>(last + 1) + more;
        CHECK(outlook(many).iterations == doctest::Approx(expected).epsilon(0.1));
        CHECK(outlook(many).growth == doctest::Approx(left / before).epsilon(0.1));
        CHECK(outlook(some).growth == doctest::Approx(left / before).epsilon(0.2));
        // (Of changes that hardly shrink a little less or more is many iterations.)
        if (alpha < 0.99) CHECK(outlook(some).iterations == doctest::Approx(expected).epsilon(0.2));
      }
    }
  }
}

TEST_CASE("a tolerance that is reached at once takes no more iterations than were seen") {
  const TransitionMatrix matrix = uniform(1 << 10, 1 << 14);
  const auto seen = seen_nodes(matrix, 100);
  const auto iterations = [&](double alpha, double tolerance) {
    return gpu::outlook_by_early_changes(seen, 4, matrix.node_count(), matrix.link_count(), alpha,
                                         tolerance)
        .iterations;
  };
  CHECK(iterations(0.85, 0.5) == 4);
  CHECK(iterations(0, 1e-6) == 4);
  // In a graph whose nodes all have as many links either way nothing changes but for rounding.
  std::vector<gpu::SeenNode> regular;
  for (int i = 0; i < 256; ++i) {
    const double off = (i % 2 == 0 ? 1 : -1) * 3e-8;
    regular.push_back({.walks = {1 + off, 1 - off, 1 + off, 1 - off}, .in_links = 3});
  }
  CHECK(gpu::outlook_by_early_changes(regular, 4, 100, 300, 0.85, 1e-10).iterations == 4);
  // Changes that do not shrink at all promise no endless solve.
  const std::vector<gpu::SeenNode> growing(2, {.walks = {2, 4, 8, 16}, .in_links = 1});
  CHECK(std::isfinite(gpu::outlook_by_early_changes(growing, 4, 2, 2, 0.85, 1e-6).iterations));
}

TEST_CASE("first changes are asked for where they can tell something and it matters") {
  const auto doubtful = [](const TransitionMatrix& matrix, const gpu::ExpectedWork& work) {
    return gpu::choose_kernel(matrix, Precision::mixed, work).doubtful();
  };
  const TransitionMatrix cited = make_transition_matrix(citations(1 << 20, 16, 3));
  CHECK(doubtful(cited, {.tolerance = 1e-8}));
  CHECK(gpu::choose_kernel(cited, Precision::mixed, {.tolerance = 1e-8}).blocked_is_likely);
  const TransitionMatrix mixing = uniform(1 << 20, 1 << 24);
  CHECK(doubtful(mixing, {.tolerance = 1e-8}));
  CHECK_FALSE(gpu::choose_kernel(mixing, Precision::mixed, {.tolerance = 1e-8}).blocked_is_likely);
  CHECK_FALSE(doubtful(cited, {.alpha = 0.1, .tolerance = 0.1}));  // ends before
  CHECK_FALSE(doubtful(cited, {.solves = 100}));                   // blocked, anyhow
  // Half of these links are those of hubs.
  CHECK_FALSE(doubtful(make_transition_matrix(generate_graph(
                           {.kind = GraphKind::power_law, .nodes = 1 << 20, .links = 1 << 24})),
                       {.tolerance = 1e-6}));
}

TEST_CASE("the kernel of many iterations is taken where first changes tell of them") {
  if (!has_gpu()) return;
  const auto engine_of = [](const TransitionMatrix& matrix, const gpu::ExpectedWork& work) {
    return gpu::Engine(matrix, {.expected = work, .precision = Precision::mixed});
  };
  const TransitionMatrix cited = make_transition_matrix(citations(1 << 20, 16, 3));
  CHECK(engine_of(cited, {.tolerance = 1e-8}).kernel() == "blocked");
  // A fiftieth of the nodes in groups that rank hardly leaves: walks do not end.
  EdgeList caught =
      generate_graph({.kind = GraphKind::uniform, .nodes = 1 << 20, .links = 1 << 24});
  std::mt19937_64 random(5);
  for (std::size_t k = 0; k < caught.entry_count(); ++k) {
    if (caught.sources[k] >= caught.node_count / 50 || random() % 50 == 0) continue;
    caught.targets[k] = caught.sources[k] / 100 * 100 + static_cast<NodeId>(random() % 100);
  }
  const TransitionMatrix catching = make_transition_matrix(std::move(caught));
  const gpu::KernelChoice choice =
      gpu::choose_kernel(catching, Precision::mixed, {.tolerance = 1e-8});
  REQUIRE(choice.doubtful());
  REQUIRE_FALSE(choice.blocked_is_likely);
  CHECK(engine_of(catching, {.tolerance = 1e-8}).kernel() == "blocked");

  const TransitionMatrix mixing = uniform(1 << 20, 1 << 24);
  gpu::Engine engine = engine_of(mixing, {.tolerance = 1e-8});
  CHECK(engine.kernel() == "balanced");
  // Who gave up has left the graph as it was.
  const Solution found = engine.solve({}, {.tolerance = 1e-10});
  const Solution expected = CpuEngine(mixing, {}).solve({}, {.tolerance = 1e-10});
  CHECK(found.converged);
  CHECK(l1_distance(found.scores, expected.scores) < 2e-10);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
