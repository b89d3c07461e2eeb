// How the CPU engine holds a graph: which layout, in how much memory, and that neither shows in a
// result.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/blocked_layout.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/in_link_sums.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("engine");

TEST_CASE("the number of threads does not change a bit of the CPU engine's result") {
  if (tested_engines() != "cpu") return;
  EdgeList edges = graph_of_row_lengths(30'000, {0, 1, 33, 5, 200}, 31);
  for (NodeId i = 0; i < 5000; ++i) edges.add_entry(SourceIndex::row, i * 6, 7);  // a hub
  for (const EdgeList& graph : {edges, with_random_weights(edges, 32)}) {
    const TransitionMatrix matrix = make_transition_matrix(graph);
    for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
      for (const CpuLayout layout : {CpuLayout::plain, CpuLayout::blocked}) {
        CAPTURE(static_cast<int>(precision));
        CAPTURE(static_cast<int>(layout));
        const auto solve = [&](int threads) {
          CpuEngine engine(matrix, {.threads = threads,
                                    .precision = precision,
                                    .layout = layout,
                                    .sizes = small_cpu_sizes()});
          CHECK(engine.layout() == layout);
          return engine.solve({}, {.tolerance = 1e-7});
        };
        const Solution one = solve(1);
        for (const int threads : {2, 3, 8, 0}) {
          CAPTURE(threads);
          const Solution many = solve(threads);
          CHECK(many.scores == one.scores);
          CHECK(many.changes == one.changes);
          CHECK(many.error_bound == one.error_bound);
        }
      }
    }
  }
}

TEST_CASE("the CPU engine's layout follows the graph's size, and its segments are not too short") {
  if (tested_engines() != "cpu") return;
  const auto layout_of = [](const GraphRecipe& recipe, const BlockedSizes& sizes) {
    const CpuEngine engine(make_transition_matrix(generate_graph(recipe)),
                           {.sizes = {.plain = {}, .blocked = sizes}});
    return engine.layout();
  };
  GraphRecipe recipe{.kind = GraphKind::rmat, .nodes = 1 << 18, .links = 1 << 22};
  CHECK(layout_of(recipe, {}) == CpuLayout::blocked);
  CHECK(layout_of(recipe, {.block_rows = 1}) == CpuLayout::plain);  // 2 links a segment
  recipe.nodes = 1 << 10;
  recipe.links = 1 << 14;
  CHECK(layout_of(recipe, {}) == CpuLayout::plain);
}

TEST_CASE("a layout that is costly to make is taken where many iterations are to come") {
  if (tested_engines() != "cpu") return;
  const TransitionMatrix matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 18, .links = 1 << 22}));
  const auto layout_for = [&](double iterations) {
    return CpuEngine(matrix, {.expected_iterations = iterations}).layout();
  };
  CHECK(layout_for(1) == CpuLayout::plain);
  CHECK(layout_for(10) == CpuLayout::blocked);
  CHECK(layout_for(1e300) == CpuLayout::blocked);
  // z of more than a core's own cache is far away, whatever comes behind that.
  const TransitionMatrix spread = make_transition_matrix(
      generate_graph({.kind = GraphKind::uniform, .nodes = 1 << 20, .links = 1 << 22}));
  const CpuEngineOptions few{.precision = Precision::float32, .expected_iterations = 7};
  CHECK(CpuEngine(spread, few).layout() == CpuLayout::blocked);

  // As many as uniform:20x16 takes, give or take one; one at least, whatever is asked.
  CHECK(least_usual_iterations(0.85, 1e-6) == doctest::Approx(10).epsilon(0.1));
  CHECK(least_usual_iterations(0.85, 1e-10) == doctest::Approx(16).epsilon(0.1));
  CHECK(least_usual_iterations(0.3, 1e-2) < 3);
  CHECK(least_usual_iterations(0, 1e-6) == 1);
  CHECK(least_usual_iterations(0.85, 2) == 1);
}

TEST_CASE("runs are counted as they lie in the matrix, whatever their lengths") {
  if (tested_engines() != "cpu") return;
  // Of neighbouring sources and of others, up to and beyond what is counted at a time (2048).
  constexpr NodeId nodes = 20'000;
  EdgeList edges{.node_count = nodes};
  const NodeId lengths[] = {0,    1,    63, 64,   65,   0, 128, 2047,
                            2048, 2049, 1,  4096, 7000, 0, 0,   20'000};
  NodeId row = 0;
  for (const NodeId apart : {1, 3, 130}) {
    for (const NodeId length : lengths) {
      for (NodeId k = 0; k < length && k * apart < nodes; ++k) {
        edges.add_entry(SourceIndex::row, k * apart, row);
      }
      row += 7;  // several in a block of rows
    }
  }
  const CsrMatrix links = make_transition_matrix(edges).in_links;
  constexpr std::uint32_t most = BlockedLayout::longest_run;
  for (const std::uint32_t window_bytes : {1 << 10, 1 << 13, 1 << 18}) {
    CAPTURE(window_bytes);
    ThreadTeam team(2);
    const BlockedLayout layout =
        make_blocked_layout(links, true, {.window_bytes = window_bytes, .block_rows = 64}, team);
    REQUIRE(layout.groups.size() == 1);
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
      const BlockedLayout::RowBlock& block = layout.blocks[b];
      for (std::size_t window = 0; window < layout.window_count; ++window) {
        std::map<std::uint32_t, std::uint32_t> expected, found;
        for (NodeId i = block.begin; i < block.end; ++i) {
          const auto in_window = static_cast<std::uint32_t>(std::count_if(
              links.column_indices.begin() + static_cast<long>(links.row_offsets[i]),
              links.column_indices.begin() + static_cast<long>(links.row_offsets[i + 1]),
              [&](NodeId j) { return j / layout.window_nodes == window; }));
          if (in_window >= most) expected[most] += in_window / most;
          if (in_window % most != 0) ++expected[in_window % most];
        }
        const std::size_t segment = layout.segment_of(b, window);
        const std::size_t first = layout.segments[segment].first_class;
        const std::size_t last = layout.segments[segment + 1].first_class;
        for (std::size_t c = first; c < last; ++c) {
          found[layout.classes[c].length] = layout.classes[c].runs;
        }
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("what a layout of its own takes of memory is known before it is made") {
  if (tested_engines() != "cpu") return;
  GraphRecipe recipe{.kind = GraphKind::rmat, .nodes = 1 << 18, .links = 1 << 22};
  const EdgeList edges = generate_graph(recipe);
  ThreadTeam team(2);
  for (const EdgeList& graph : {edges, with_random_weights(edges, 35)}) {
    CsrMatrix links = make_transition_matrix(graph).in_links;
    for (const bool narrow : {false, true}) {
      CAPTURE(narrow);
      const BlockedLayout layout = make_blocked_layout(links, narrow, {}, team);
      const auto bytes_of = [](const auto& array) { return array.size() * sizeof(*array.data()); };
      const std::uint64_t made = bytes_of(layout.sources) + bytes_of(layout.rows) +
                                 bytes_of(layout.values) + bytes_of(layout.narrow_values) +
                                 bytes_of(layout.segments) + bytes_of(layout.classes);
      const std::uint64_t a_link = graph.weighted() ? (narrow ? 8 : 12) : 4;
      const std::uint64_t ids = links.element_count() * sizeof(NodeId);
      const std::uint64_t alone = bytes_to_lay_out(links, narrow);
      CHECK(alone >= made);
      CHECK(alone < links.element_count() * (a_link + 1) + (graph.weighted() && narrow ? ids : 0));
      const std::vector<CsrMatrix> shared(1, links);  // ids that cannot hold partial sums
      CHECK(bytes_to_lay_out(links, narrow) == alone + (graph.weighted() && narrow ? 0 : ids));
    }
  }
}

TEST_CASE("partial sums of graphs with few links a node are held in parts") {
  if (tested_engines() != "cpu") return;
  constexpr std::uint64_t nodes = 1 << 18;
  ThreadTeam team(2);
  const auto layout_of = [&](std::uint64_t links_a_node, bool narrow, std::size_t bytes_a_node) {
    const GraphRecipe recipe{
        .kind = GraphKind::uniform, .nodes = nodes, .links = nodes * links_a_node};
    return make_blocked_layout(make_transition_matrix(generate_graph(recipe)).in_links, narrow,
                               {.window_bytes = 1 << 16, .bytes_a_node = bytes_a_node}, team);
  };
  const auto bytes_of = [](const BlockedLayout& layout, bool narrow) {
    return (layout.sources.size() + layout.rows.size()) * sizeof(std::uint16_t) +
           layout.largest_group * (narrow ? sizeof(float) : sizeof(double));
  };
  for (const bool narrow : {false, true}) {
    CAPTURE(narrow);
    const BlockedLayout dense = layout_of(16, narrow, 40);
    CHECK(dense.groups.size() == (narrow ? 1 : 2));
    const BlockedLayout sparse = layout_of(4, narrow, 32);
    CHECK(bytes_of(sparse, narrow) + nodes * 32 <= (nodes * 4 * 4 + nodes * 8) * 5 / 2);
    CHECK(layout_of(4, narrow, 0).groups.size() == (narrow ? 1 : 2));
    // However little is left for them, they are not cut into very many.
    CHECK(layout_of(2, narrow, 100).groups.size() <= 6);
  }
  const TransitionMatrix matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::uniform, .nodes = nodes, .links = nodes * 4}));
  for (const Precision precision : {Precision::float64, Precision::mixed}) {
    const auto scores_with = [&](std::size_t bytes_a_node) {
      CpuEngineOptions options{.threads = 2, .precision = precision, .layout = CpuLayout::blocked};
      options.sizes.blocked.window_bytes = 1 << 16;
      options.sizes.blocked.bytes_a_node = bytes_a_node;
      return CpuEngine(matrix, options).solve({}, {}).scores;
    };
    CHECK(scores_with(0) == scores_with(100));  // parts or not, the same bits
  }
}

TEST_CASE("the CPU engine uses a matrix's memory again if nobody else has it: the same bits") {
  if (tested_engines() != "cpu") return;
  const EdgeList edges = graph_of_row_lengths(20'000, {0, 1, 33, 5, 200}, 33);
  for (const EdgeList& graph : {edges, with_random_weights(edges, 34)}) {
    const TransitionMatrix kept = make_transition_matrix(graph);
    const CsrMatrix links = make_transition_matrix(graph).in_links;
    for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
      CAPTURE(static_cast<int>(precision));
      CpuEngineOptions options{
          .threads = 2, .precision = precision, .layout = CpuLayout::blocked, .sizes = {}};
      const auto solve = [&](TransitionMatrix matrix) {
        CpuEngine engine(std::move(matrix), options);
        (void)engine.solve({}, {.tolerance = 1e-4});
        return engine.solve({}, {.tolerance = 1e-7});
      };
      const Solution shared = solve(kept);
      CHECK(kept.in_links.row_offsets == links.row_offsets);
      CHECK(kept.in_links.column_indices == links.column_indices);
      CHECK(kept.in_links.values == links.values);
      const Solution given = solve(make_transition_matrix(graph));
      CHECK(given.scores == shared.scores);
      CHECK(given.changes == shared.changes);
      CHECK(given.error_bound == shared.error_bound);
      options.sizes.blocked.group_bytes = 4096;  // all of it, some rows at a time
      CHECK(solve(make_transition_matrix(graph)).scores == shared.scores);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
