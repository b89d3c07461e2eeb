#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "core/compensated_sum.hpp"
#include "core/transition_builder.hpp"
#include "core/transition_matrix.hpp"
#include "tests/matrix_samples.hpp"
#include "tests/pieces.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

TEST_CASE("the matrix is the same bits for any number of threads") {
  for (const bool weighted : {false, true}) {
    EdgeList edges = random_graph(5000, 600'000, weighted, 11);
    edges.undirected = true;
    const TransitionMatrix one = make_transition_matrix(edges, 1);
    for (const int threads : {2, 3, 8, 64}) {
      CAPTURE(threads);
      check_same_matrix(make_transition_matrix(edges, threads), one);
    }
  }
}

TEST_CASE("the matrix does not depend on how its links lie in memory while it is built") {
  // One bin; several; several, and so many nodes that a link takes more than 4 bytes on the way.
  for (const NodeId nodes : {NodeId{3000}, NodeId{200'000}, NodeId{5'000'000}}) {
    for (const bool weighted : {false, true}) {
      CAPTURE(nodes);
      CAPTURE(weighted);
      EdgeList edges = random_graph(3000, 20'000, weighted, 12);
      edges.node_count = nodes;
      for (std::size_t e = 0; e < edges.entry_count(); ++e) {  // some nodes at the far end
        if (edges.sources[e] % 3 == 0) edges.sources[e] = nodes - 1 - edges.sources[e];
        if (edges.targets[e] % 5 == 0) edges.targets[e] = nodes - 1 - edges.targets[e];
      }
      const TransitionMatrix whole = make_transition_matrix(edges);
      CHECK_NOTHROW(whole.in_links.validate());
      for (const EdgeIndex expected : {0, 7000, 20'000, 90'000}) {
        CAPTURE(expected);
        TransitionMatrixBuilder builder(
            {.node_count = nodes, .weighted = weighted, .expected_entries = expected});
        for (const std::size_t piece : {3U, 0U, 2U, 5U}) {  // as they come; 1 and 4 are empty
          const std::size_t begin = (piece < 2 ? piece : piece < 4 ? piece - 1 : piece - 2) * 5000;
          builder.add(
              piece, std::span(edges.sources).subspan(begin, 5000),
              std::span(edges.targets).subspan(begin, 5000),
              weighted ? std::span(edges.weights).subspan(begin, 5000) : std::span<const double>());
        }
        CHECK(builder.link_count() == 20'000);
        check_same_matrix(builder.build(2), whole);
      }
    }
  }
}

namespace {

/// As the definition has it, by two counting sorts of all links: by source, then by target.
TransitionMatrix sorted_matrix(const EdgeList& edges) {
  const std::size_t links = edges.entry_count();
  std::vector<std::size_t> order(links), sorted(links);
  std::iota(order.begin(), order.end(), 0);
  std::vector<EdgeIndex> begins;
  for (const Array<NodeId>* const keys : {&edges.sources, &edges.targets}) {
    begins.assign(std::size_t{edges.node_count} + 1, 0);
    for (const NodeId key : *keys) ++begins[key + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<EdgeIndex> next = begins;
    for (const std::size_t e : order) sorted[next[(*keys)[e]]++] = e;
    std::swap(order, sorted);
  }
  std::vector<double> sums(edges.node_count, 0);  // of eighths: exact
  for (std::size_t e = 0; e < links; ++e) {
    sums[edges.sources[e]] += edges.weighted() ? edges.weights[e] : 1;
  }
  TransitionMatrix matrix;
  Array<EdgeIndex> offsets{0};
  Array<NodeId> columns;
  Array<double> values;
  for (NodeId row = 0; row < edges.node_count; ++row) {
    for (EdgeIndex k = begins[row]; k < begins[row + 1]; ++k) {
      const NodeId source = edges.sources[order[k]];
      const bool again = columns.size() > offsets.back() && columns.back() == source;
      matrix.distinct_links += again ? 0 : 1;
      if (edges.weighted()) {
        const double value = edges.weights[order[k]] / sums[source];
        if (again) values.back() += value;
        if (!again) values.push_back(value);
      }
      if (!again || !edges.weighted()) columns.push_back(source);
    }
    offsets.push_back(columns.size());
  }
  matrix.in_links = {
      .row_offsets = offsets, .column_indices = std::move(columns), .values = std::move(values)};
  return matrix;
}

}  // namespace

TEST_CASE("memory that is used again while a matrix is built holds what belongs there") {
  struct Case {
    NodeId nodes;
    std::size_t links;
    bool weighted;
  };
  // Four slabs of links, so that there are parts; in 4 bytes a link, and in 6.
  for (const auto& [nodes, links, weighted] :
       {Case{1 << 16, 2'200'000, false}, Case{1 << 16, 2'200'000, true},
        Case{1 << 22, 4'300'000, true}}) {
    CAPTURE(nodes);
    CAPTURE(weighted);
    EdgeList edges = random_graph(nodes, links, weighted, 21);
    for (std::size_t e = 0; e < links; ++e) {
      if (weighted) edges.weights[e] += 0.125;
      if (e % 3 == 0) edges.sources[e] %= nodes / 16;
      if (e % 4 == 0) edges.targets[e] %= nodes / 64;
    }
    for (const bool by_source : {false, true}) {
      CAPTURE(by_source);
      if (by_source) std::sort(edges.sources.begin(), edges.sources.end());
      const TransitionMatrix expected = sorted_matrix(edges);
      CHECK((expected.distinct_links < links));
      for (const int threads : {1, 3, 16}) {
        CAPTURE(threads);
        const TransitionMatrix matrix = make_transition_matrix(edges, threads);
        CHECK(matrix.in_links.row_offsets == expected.in_links.row_offsets);
        CHECK(matrix.in_links.column_indices == expected.in_links.column_indices);
        CHECK(matrix.distinct_links == expected.distinct_links);
        REQUIRE(matrix.in_links.values.size() == expected.in_links.values.size());
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < matrix.in_links.values.size(); ++k) {
          wrong += !(std::abs(matrix.in_links.values[k] - expected.in_links.values[k]) < 1e-15);
        }
        CHECK(wrong == 0);
      }
    }
  }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a matrix is built where there are few addresses more than it takes") {
  const EdgeList edges = random_graph(1 << 16, 2'200'000, true, 5);
  const EdgeIndex distinct = make_transition_matrix(edges, 1).distinct_links;
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  for (const rlim_t more : {80, 120, 160, 200, 240, 280, 320}) {  // MB; the arena takes 150
    CAPTURE(more);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const rlim_t bytes = pages * 4096 + more * 1'000'000;
      const rlimit limit{bytes, bytes};
      int status = 2;
      try {
        if (setrlimit(RLIMIT_AS, &limit) == 0) {
          TransitionMatrixBuilder builder({.node_count = edges.node_count,
                                           .weighted = true,
                                           .expected_entries = edges.entry_count()});
          add_in_pieces(builder, edges, 100'000);
          status = builder.build(1).distinct_links == distinct ? 0 : 1;
        }
      } catch (const std::bad_alloc&) {
        status = 3;
      }
      _exit(status);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}
#endif

TEST_CASE("a graph is the same whatever was claimed of its links, true, too many or too few") {
  // In 4 bytes a link, and in 6. Before an eighth of a slab a part has come pieces have memory of
  // their own; so they have once there are many more than was claimed.
  for (const NodeId nodes : {NodeId{1} << 16, NodeId{1} << 22}) {
    for (const bool weighted : {false, true}) {
      for (const bool undirected : {false, true}) {
        CAPTURE(nodes);
        CAPTURE(weighted);
        CAPTURE(undirected);
        constexpr std::size_t entries = 1'500'000;
        EdgeList edges = random_graph(nodes, entries, weighted, 51);
        edges.undirected = undirected;
        const auto build = [&](EdgeIndex claimed) {
          TransitionMatrixBuilder builder({.node_count = nodes,
                                           .weighted = weighted,
                                           .undirected = undirected,
                                           .expected_entries = claimed,
                                           .only_claimed = true});
          add_in_pieces(builder, edges, 50'000);
          return builder.build(3);
        };
        const TransitionMatrix none_claimed = build(0);
        for (const EdgeIndex claimed :
             {EdgeIndex{entries}, 3 * EdgeIndex{1} << 20, EdgeIndex{1} << 24, EdgeIndex{600'000}}) {
          CAPTURE(claimed);
          check_same_matrix(build(claimed), none_claimed);
        }
      }
    }
  }
}

TEST_CASE("links of few sources, more than are gathered at a time, come into place") {
  struct Link {
    NodeId target, source;
    double weight;
  };
  const auto build = [](const EdgeList& edges, EdgeIndex expected, int threads) {
    TransitionMatrixBuilder builder({.node_count = edges.node_count,
                                     .weighted = edges.weighted(),
                                     .expected_entries = expected});
    add_in_pieces(builder, edges, 100'000);
    return builder.build(threads);
  };
  struct Case {
    NodeId nodes, hubs;  ///< Hubs are numbered from there on.
    EdgeIndex expected;
  };
  // In 4 bytes a link, and in 6; in a bin of many nodes, and in one halved until it has few.
  for (const auto& [nodes, hubs, expected] :
       {Case{1 << 18, 0, 630'010}, Case{1 << 22, 0, 630'010}, Case{1 << 18, 87'381, 1 << 23},
        Case{1 << 22, 1'398'101, 1 << 23}}) {
    CAPTURE(nodes);
    CAPTURE(hubs);
    std::vector<Link> links;
    // Odd strides lead to targets that differ. Weights are eighths: their sums are exact.
    const auto add = [&](NodeId source, std::size_t count, NodeId stride, double weight) {
      for (std::size_t k = 0; k < count; ++k) {
        links.push_back({static_cast<NodeId>((k * stride + source) % nodes), source,
                         weight == 0 ? static_cast<double>(k % 1000 + 1) / 8 : weight});
      }
    };
    // A hub, more than once as many as are gathered, whether in a thread's own memory or shared,
    // and another, the sum of whose weights is beyond double.
    add(hubs + 7, 250'000, 12345, 0);
    const NodeId huge = hubs + 8;
    add(huge, 180'000, 54321, 0x1p1023);
    for (NodeId k = 100; k < 110; ++k) add(hubs + k, 20'000, 2 * k + 1, 0);
    add(nodes - 1, 10, 3, 0);
    std::shuffle(links.begin(), links.end(), std::mt19937_64(41));
    std::vector<double> sums(nodes, 0);
    std::vector<EdgeIndex> out_links(nodes, 0);
    EdgeList edges;
    edges.node_count = nodes;
    for (const auto& [target, source, weight] : links) {
      edges.add_entry(SourceIndex::row, source, target);
      sums[source] += source == huge ? 1 : weight;  // in units of its weights
      ++out_links[source];
    }
    EdgeList weighted = edges;
    for (const Link& link : links) weighted.weights.push_back(link.weight);
    std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
      return std::pair(a.target, a.source) < std::pair(b.target, b.source);
    });
    for (const int threads : {1, 3, 16}) {
      CAPTURE(threads);
      const TransitionMatrix plain = build(edges, expected, threads);
      const TransitionMatrix matrix = build(weighted, expected, threads);
      REQUIRE(plain.in_links.element_count() == links.size());
      REQUIRE(matrix.in_links.element_count() == links.size());
      CHECK(plain.in_links.row_offsets == matrix.in_links.row_offsets);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < links.size(); ++k) {
        const auto& [target, source, weight] = links[k];
        const double value = (source == huge ? 1 : weight) / sums[source];
        wrong += plain.in_links.column_indices[k] != source;
        wrong += matrix.in_links.column_indices[k] != source;
        wrong += matrix.in_links.values[k] != value;
        wrong += k < matrix.in_links.row_offsets[target];
        wrong += k >= matrix.in_links.row_offsets[std::size_t{target} + 1];
      }
      for (NodeId node = 0; node < nodes; ++node) {
        const bool none = out_links[node] == 0;
        wrong +=
            plain.inverse_out_weight[node] != (none ? 0 : 1 / static_cast<double>(out_links[node]));
        wrong += matrix.inverse_out_weight[node] != (none ? 0 : 1);
      }
      CHECK(wrong == 0);
      CHECK(plain.dangling.size() == nodes - 13);
      CHECK(plain.dangling == matrix.dangling);
    }
  }
}

TEST_CASE("weights are added up by pieces of 4096, those of a source and those of repeated links") {
  // What PiecewiseSum promises, which the GPU's builder keeps to as well.
  const auto sum_by_pieces = [](const std::vector<double>& terms) {
    CompensatedSum sum;
    for (std::size_t begin = 0; begin < terms.size(); begin += 4096) {
      CompensatedSum piece;
      const std::size_t end = std::min(begin + 4096, terms.size());
      for (std::size_t k = begin; k < end; ++k) piece.add(terms[k]);
      sum.add(piece.value());
    }
    return sum.value();
  };
  constexpr NodeId sources = 40;
  std::mt19937_64 random(61);
  std::uniform_real_distribution<double> weight_of(0.1, 1);
  EdgeList edges;
  edges.node_count = 200'000;
  std::size_t differ = 0, expected_links = 0;
  std::vector<std::vector<double>> once(sources), repeated(sources);
  for (NodeId source = 0; source < sources; ++source) {
    // Up to two pieces more, and the last source's are more than are gathered at a time.
    const std::size_t count = source + 1 == sources ? 180'000 : 4090 + source * 211;
    CompensatedSum all;
    for (std::size_t k = 0; k < count; ++k) {
      const double weight = weight_of(random);
      // Half of them to node 0, the others to nodes of their own.
      edges.add_entry(SourceIndex::row, source, k % 2 == 0 ? 0 : static_cast<NodeId>(k));
      edges.weights.push_back(weight);
      once[source].push_back(weight);
      all.add(weight);
    }
    const double sum = sum_by_pieces(once[source]);
    CHECK(sum == doctest::Approx(all.value()).epsilon(1e-15));
    differ += sum != all.value();
    for (std::size_t k = 0; k < count; k += 2) repeated[source].push_back(once[source][k] / sum);
    expected_links += 1 + count / 2;
  }
  CHECK(differ > 5);  // it can be told from one compensated sum
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    TransitionMatrixBuilder builder({.node_count = edges.node_count, .weighted = true});
    add_in_pieces(builder, edges, 100'000);
    const TransitionMatrix matrix = builder.build(threads);
    REQUIRE(matrix.in_links.element_count() == expected_links);
    for (NodeId source = 0; source < sources; ++source) {
      CAPTURE(source);
      CHECK(matrix.in_links.column_indices[source] == source);
      CHECK(matrix.in_links.values[source] == sum_by_pieces(repeated[source]));
    }
    const EdgeIndex of_last = matrix.in_links.row_offsets[179'999];  // one link, of the last source
    CHECK(matrix.in_links.values[of_last] == once.back().back() / sum_by_pieces(once.back()));
  }
}

TEST_CASE("a matrix does not hang on which piece comes first, by which bins of nodes are cut") {
  EdgeList edges = random_graph(1 << 16, 400'000, true, 33);
  for (std::size_t e = 0; e < edges.entry_count(); ++e) {  // each piece has nodes of its own
    const auto first = static_cast<NodeId>(e / 100'000 << 14);
    if (e % 8 != 0) edges.sources[e] = first + edges.sources[e] % 40;
    if (e % 4 != 0) edges.targets[e] = first + 9000 + edges.targets[e] % 900;
  }
  const TransitionMatrix whole = make_transition_matrix(edges);
  for (const std::size_t first : {0U, 1U, 2U, 3U}) {
    CAPTURE(first);
    TransitionMatrixBuilder builder({.node_count = edges.node_count,
                                     .weighted = true,
                                     .expected_entries = EdgeIndex{1} << 23});  // 32 bins and more
    for (const std::size_t turn : {0U, 1U, 2U, 3U}) {
      const std::size_t piece = (first + turn) % 4, begin = piece * 100'000;
      builder.add(piece, std::span(edges.sources).subspan(begin, 100'000),
                  std::span(edges.targets).subspan(begin, 100'000),
                  std::span(edges.weights).subspan(begin, 100'000));
    }
    check_same_matrix(builder.build(3), whole);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
