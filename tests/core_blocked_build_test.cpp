// Links laid out while the matrix is built, against a layout made of that matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/blocked_layout.hpp"
#include "core/cpu_engine.hpp"
#include "core/cpu_layout.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_builder.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/pieces.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");
namespace {

std::vector<std::uint16_t> part_of(const Array<std::uint16_t>& array, std::size_t begin,
                                   std::size_t count) {
  const auto first = array.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/// All that can be seen of a layout, but for where the rows of a block's runs lie.
void check_same(const BlockedLayout& found, const BlockedLayout& expected) {
  CHECK(found.node_count == expected.node_count);
  CHECK(found.window_nodes == expected.window_nodes);
  CHECK(found.largest_group == expected.largest_group);
  CHECK(found.largest_block == expected.largest_block);
  CHECK(found.tasks == expected.tasks);
  CHECK(found.sources == expected.sources);
  CHECK(found.rows.size() == expected.rows.size());
  const auto same = [](const auto& one, const auto& other, auto values_of) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](const auto& a, const auto& b) { return values_of(a) == values_of(b); });
  };
  REQUIRE(same(found.blocks, expected.blocks, [](const BlockedLayout::RowBlock& block) {
    return std::tuple(block.begin, block.end, block.first_link, block.first_run, block.last_run);
  }));
  CHECK(same(found.segments, expected.segments, [](const BlockedLayout::Segment& segment) {
    return std::tuple(segment.first_link, segment.first_run, segment.first_class);
  }));
  CHECK(same(found.classes, expected.classes, [](const BlockedLayout::RunClass& some) {
    return std::tuple(some.length, some.runs);
  }));
  CHECK(same(found.groups, expected.groups, [](const BlockedLayout::Group& group) {
    return std::tuple(group.first_block, group.last_block, group.first_task, group.last_task);
  }));
  bool same_rows = true;
  for (std::size_t b = 0; b < found.blocks.size(); ++b) {
    const BlockedLayout::RowBlock& block = expected.blocks[b];
    const std::size_t runs = block.last_run - block.first_run;
    same_rows = same_rows && part_of(found.rows, found.blocks[b].first_row, runs) ==
                                 part_of(expected.rows, block.first_row, runs);
  }
  CHECK(same_rows);
}

/// What a builder makes of that graph. The more entries it expects the smaller are its bins.
std::variant<TransitionMatrix, BlockedMatrix> build(const EdgeList& edges, EdgeIndex expected,
                                                    const LayoutWish& wish, int threads = 2) {
  TransitionMatrixBuilder builder({.node_count = edges.node_count,
                                   .weighted = edges.weighted(),
                                   .undirected = edges.undirected,
                                   .expected_entries = expected});
  add_in_pieces(builder, edges, 10'000);
  return builder.build_for(wish, threads);
}

std::vector<NamedGraph> graphs_to_lay_out() {
  std::vector<NamedGraph> found;
  // Rows up to many runs long, with links that come again, and a hub.
  EdgeList rows = graph_of_row_lengths(30'000, {0, 1, 2, 33, 5, 200, 0, 64, 65, 3}, 51);
  for (NodeId i = 0; i < 20'000; ++i) rows.add_entry(SourceIndex::row, i, 7);
  for (NodeId i = 0; i < 500; ++i) {
    rows.add_entry(SourceIndex::row, i % 3, 29'999);
    rows.add_entry(SourceIndex::row, i * 2, 29'998);
    rows.add_entry(SourceIndex::row, i * 2, 29'998);
  }
  found.push_back({"rows of many lengths", rows});
  rows.undirected = true;
  found.push_back({"the same, undirected", rows});
  found.push_back(
      {"rmat", generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 14, .links = 1 << 17})});
  EdgeList few{.node_count = 70'001};  // of which the last has a link, and none the first
  few.add_entry(SourceIndex::row, 70'000, 69'999);
  few.add_entry(SourceIndex::row, 65'536, 70'000);
  few.add_entry(SourceIndex::row, 65'535, 1);
  found.push_back({"few links", few});
  found.push_back({"no links", EdgeList{.node_count = 1000}});
  found.push_back({"one node", EdgeList{.node_count = 1, .sources = {0}, .targets = {0}}});
  return found;
}

}  // namespace

TEST_CASE("links laid out while the matrix is built lie as in a layout made of the matrix") {
  std::vector<BlockedSizes> all_sizes = {{}, small_cpu_sizes().blocked};
  all_sizes.push_back({.window_bytes = 1 << 13, .block_rows = 1 << 10, .block_links = 3000});
  all_sizes.push_back({.window_bytes = 512, .block_rows = 1 << 16, .least_rows = 1});
  ThreadTeam team(2);
  for (const NamedGraph& graph : graphs_to_lay_out()) {
    CAPTURE(graph.name);
    const TransitionMatrix matrix = make_transition_matrix(graph.edges);
    for (const BlockedSizes& sizes : all_sizes) {
      CAPTURE(sizes.window_bytes);
      for (const bool narrow : {false, true}) {
        CAPTURE(narrow);
        const LayoutWish wish{CpuLayout::blocked, 10, narrow, sizes};
        // Bins of all nodes, of few, and of less than a block.
        for (const EdgeIndex expected : {EdgeIndex{0}, EdgeIndex{1} << 24, EdgeIndex{1} << 27}) {
          CAPTURE(expected);
          auto built = build(graph.edges, expected, wish, narrow ? 1 : 3);
          REQUIRE(std::holds_alternative<BlockedMatrix>(built));
          const BlockedMatrix& found = std::get<BlockedMatrix>(built);
          BlockedSizes as_found = sizes;
          as_found.group_bytes = found.in_links.sizes.group_bytes;
          check_same(found.in_links, make_blocked_layout(matrix.in_links, narrow, as_found, team));
          CHECK(found.inverse_out_weight == matrix.inverse_out_weight);
          CHECK(found.dangling == matrix.dangling);
          CHECK(found.distinct_links == matrix.distinct_links);
          CHECK(found.link_count() == matrix.link_count());
          CHECK(found.graph_node_count() == matrix.graph_node_count());
        }
      }
    }
  }
}

TEST_CASE("links are laid out where the CPU engine would, by the same look at some of them") {
  struct Case {
    GraphKind kind;
    NodeId nodes;
    EdgeIndex links;
    double iterations;
    CpuLayout expected;
  };
  using enum CpuLayout;
  for (const Case& each : {Case{GraphKind::rmat, 1 << 18, 1 << 22, 10, blocked},
                           Case{GraphKind::rmat, 1 << 18, 1 << 22, 1, plain},
                           Case{GraphKind::uniform, 1 << 20, 1 << 22, 7, blocked},
                           Case{GraphKind::uniform, 1 << 16, 1 << 21, 3, plain},
                           Case{GraphKind::hub, 1 << 20, 1 << 21, 10, blocked},
                           Case{GraphKind::rmat, 1 << 10, 1 << 14, 10, plain}}) {
    CAPTURE(static_cast<int>(each.kind));
    CAPTURE(each.iterations);
    EdgeList edges = generate_graph({.kind = each.kind, .nodes = each.nodes, .links = each.links});
    const CpuEngineOptions options{.threads = 2,
                                   .precision = Precision::mixed,
                                   .expected_iterations = each.iterations,
                                   .sizes = {}};
    auto built = build(edges, edges.entry_count(), options.layout_wish());
    CpuEngine of_matrix(make_transition_matrix(std::move(edges)), options);
    CHECK(of_matrix.layout() == each.expected);
    CHECK(std::holds_alternative<BlockedMatrix>(built) == (each.expected == blocked));
    if (!std::holds_alternative<BlockedMatrix>(built)) continue;
    CpuEngine engine(std::get<BlockedMatrix>(std::move(built)), options);
    CHECK(engine.layout() == blocked);
    const Solution one = engine.solve({}, {}), other = of_matrix.solve({}, {});
    CHECK(one.scores == other.scores);
    CHECK(one.changes == other.changes);
    CHECK(one.error_bound == other.error_bound);
    CHECK(engine.solve({}, {}).scores == one.scores);  // and again
  }
}

TEST_CASE("the look at some links sees the same in bins as in rows") {
  // Stretches over the ends of bins and rows, a hub's row among them.
  EdgeList edges =
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 15, .links = LinkSample::least_links});
  for (NodeId i = 0; i < 150'000; ++i) edges.add_entry(SourceIndex::row, i % 32'768, 12'345);
  const CsrMatrix links = make_transition_matrix(edges).in_links;
  LayoutWish wish;
  const auto choice_for = [&](double iterations) {
    wish.expected_iterations = iterations;
    return choose_layout(links.row_count(), links.element_count(), wish,
                         [&] { return LinkSample(links); });
  };
  // From how many iterations on links are laid out depends on all that is seen.
  double few = 0.01, many = 1000;
  REQUIRE(choice_for(few) == CpuLayout::plain);
  REQUIRE(choice_for(many) == CpuLayout::blocked);
  while (many - few > 1e-9 * many) {
    const double middle = (few + many) / 2;
    (choice_for(middle) == CpuLayout::plain ? few : many) = middle;
  }
  for (const EdgeIndex expected : {EdgeIndex{0}, EdgeIndex{1} << 22, EdgeIndex{1} << 27}) {
    CAPTURE(expected);
    wish.expected_iterations = few;
    CHECK(std::holds_alternative<TransitionMatrix>(build(edges, expected, wish)));
    wish.expected_iterations = many;
    CHECK(std::holds_alternative<BlockedMatrix>(build(edges, expected, wish)));
  }
}

TEST_CASE("of links with weights the matrix is built, whatever is wished for") {
  const EdgeList edges = with_random_weights(graph_of_row_lengths(3000, {0, 1, 33, 5}, 52), 53);
  auto built = build(edges, 0, {CpuLayout::blocked, 10, true, {}});
  REQUIRE(std::holds_alternative<TransitionMatrix>(built));
  CHECK(std::get<TransitionMatrix>(built).in_links.column_indices ==
        make_transition_matrix(edges).in_links.column_indices);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
