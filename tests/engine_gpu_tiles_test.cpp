// Layouts of graphs whose rows and links end where the tiles do that links are sorted in.
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "core/cpu_engine.hpp"
#include "gpu/pagerank.hpp"
#include "tests/shared_memory_limit.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
namespace {

constexpr std::size_t links_of_tile = 7168;

/// So many links in equal parts to `rows`, no two of a row alike as long as there are nodes for it.
EdgeList links_to(NodeId nodes, std::size_t links, const std::vector<NodeId>& rows) {
  EdgeList edges;
  edges.node_count = nodes;
  for (std::size_t i = 0; i < links; ++i) {
    const std::size_t row = i * rows.size() / links;
    const auto source = static_cast<NodeId>((i * 37 + row) % nodes);
    edges.add_entry(SourceIndex::row, source, rows[row]);
  }
  return edges;
}

std::vector<NodeId> every(NodeId step, NodeId begin, NodeId end) {
  std::vector<NodeId> rows;
  for (NodeId row = begin; row < end; row += step) rows.push_back(row);
  return rows;
}

/// In double: a correction would mend what a layout lacks.
void check_blocked(const EdgeList& edges) {
  const TransitionMatrix matrix = make_transition_matrix(edges);
  const SolveOptions options{.tolerance = 1e-10};
  const Solution of_cpu = CpuEngine(matrix, {}).solve({}, options);
  gpu::Engine engine(matrix, {.kernel = "blocked", .precision = Precision::float64});
  const Solution solution = engine.solve({}, options);
  CHECK(solution.converged);
  CHECK(l1_distance(solution.scores, of_cpu.scores) <= solution.error_bound + of_cpu.error_bound);
}

/// Without weights, and with some that are not all alike.
void check_both(EdgeList edges) {
  check_blocked(edges);
  edges.weights.assign(edges.entry_count(), 0.25);
  edges.weights[edges.entry_count() / 2] = 3;
  check_blocked(edges);
}

}  // namespace

TEST_SUITE_BEGIN("engine");

TEST_CASE("rows and links that end with a tile, or just behind one, are laid out right") {
  if (tested_engines() != "gpu") return;
  for (const std::size_t shared_memory : {std::size_t{227} << 10, std::size_t{40} << 10}) {
    CAPTURE(shared_memory);
    const SharedMemoryLimit limit(shared_memory);  // of one window, and of several
    for (const NodeId nodes : {9'973U, 150'001U}) {
      CAPTURE(nodes);
      for (const std::size_t links : {links_of_tile - 1, links_of_tile, links_of_tile + 1,
                                      2 * links_of_tile, 3 * links_of_tile + 1}) {
        CAPTURE(links);
        for (const std::vector<NodeId>& rows :
             {every(1, 0, 112), every(1, nodes - 112, nodes), every(1, 4'000, 4'003),
              std::vector<NodeId>{0, nodes - 1}, every(89, 0, nodes), every(1, 0, 7'000)}) {
          CAPTURE(rows.front());
          CAPTURE(rows.size());
          check_both(links_to(nodes, links, rows));
        }
      }
    }
  }
}

TEST_CASE(
    "rows without links between others that stay as they are numbered: the others are laid out "
    "right") {
  if (tested_engines() != "gpu") return;
  constexpr NodeId nodes = 200'000;
  const SharedMemoryLimit limit(40 << 10);
  for (const NodeId step : {2U, 3U, 7U}) {
    CAPTURE(step);
    for (const NodeId begin : {0U, 1U}) {
      check_both(links_to(nodes, nodes, every(step, begin, nodes)));
    }
  }
}

TEST_CASE(
    "a million rows without links between, before or behind others: the others are laid out "
    "right") {
  if (tested_engines() != "gpu") return;
  constexpr NodeId nodes = 1U << 21;
  for (const std::vector<NodeId>& rows :
       {every(1, 0, 1000), every(1, nodes - 1000, nodes), every(1, 1'000'000, 1'001'000),
        std::vector<NodeId>{0, 1'000'003, nodes - 1}}) {
    CAPTURE(rows.front());
    CAPTURE(rows.size());
    check_blocked(links_to(nodes, 3'000'000, rows));
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
