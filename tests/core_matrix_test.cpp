#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/transition_matrix.hpp"
#include "tests/matrix_samples.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

TEST_CASE("what is freed of a vector is its memory, not only its elements") {
  Array<NodeId> array(1000);
  free_memory(array);
  CHECK(array.empty());
  CHECK(array.capacity() == 0);
}

namespace {

/// B as a dense matrix, element (target, source).
std::vector<double> dense(const TransitionMatrix& matrix) {
  const std::size_t n = matrix.node_count();
  std::vector<double> b(n * n, 0);
  const CsrMatrix& links = matrix.in_links;
  for (std::size_t row = 0; row < n; ++row) {
    for (EdgeIndex k = links.row_offsets[row]; k < links.row_offsets[row + 1]; ++k) {
      const NodeId column = links.column_indices[k];
      const double value = matrix.weighted() ? links.values[k] : 1;
      b[row * n + column] += value * matrix.inverse_out_weight[column];
    }
  }
  return b;
}

/// The same by the definition, entry by entry.
std::vector<double> dense_by_definition(const EdgeList& edges) {
  const std::size_t n = edges.node_count;
  std::vector<double> a(n * n, 0);
  for (std::size_t e = 0; e < edges.entry_count(); ++e) {
    const double weight = edges.weighted() ? edges.weights[e] : 1;
    a[edges.targets[e] * n + edges.sources[e]] += weight;
    if (edges.undirected && edges.sources[e] != edges.targets[e]) {
      a[edges.sources[e] * n + edges.targets[e]] += weight;
    }
  }
  for (std::size_t column = 0; column < n; ++column) {
    double sum = 0;
    for (std::size_t row = 0; row < n; ++row) sum += a[row * n + column];
    for (std::size_t row = 0; row < n && sum > 0; ++row) a[row * n + column] /= sum;
  }
  return a;
}

}  // namespace

TEST_CASE("row and column readings of the same entry are each other's reverse") {
  EdgeList edges;
  edges.node_count = 3;
  edges.add_entry(SourceIndex::row, 0, 2);
  edges.add_entry(SourceIndex::column, 0, 2);
  CHECK(edges.sources == Array<NodeId>{0, 2});
  CHECK(edges.targets == Array<NodeId>{2, 0});
}

TEST_CASE("an unweighted graph becomes in-link rows, inverse out-degrees and dangling nodes") {
  // 0 -> 1, 0 -> 2, 1 -> 2, 3 -> 3; 2 is dangling, 4 is isolated
  const TransitionMatrix matrix =
      make_transition_matrix(make_graph(5, {{0, 2}, {1, 2}, {0, 1}, {3, 3}}));
  CHECK(matrix.in_links.row_offsets == Array<EdgeIndex>{0, 0, 1, 3, 4, 4});
  CHECK(matrix.in_links.column_indices == Array<NodeId>{0, 0, 1, 3});
  CHECK(matrix.in_links.values.empty());
  CHECK(matrix.inverse_out_weight == Array<double>{0.5, 1, 0, 1, 0});
  CHECK(matrix.dangling == std::vector<NodeId>{2, 4});
  CHECK(matrix.distinct_links == 4);
}

TEST_CASE("repeated links add up") {
  SUBCASE("unweighted: kept, counted once as a link") {
    const TransitionMatrix matrix = make_transition_matrix(make_graph(3, {{0, 1}, {0, 2}, {0, 1}}));
    CHECK(matrix.link_count() == 3);
    CHECK(matrix.distinct_links == 2);
    CHECK(dense(matrix)[1 * 3 + 0] == doctest::Approx(2.0 / 3));
  }
  SUBCASE("weighted: merged") {
    const TransitionMatrix matrix =
        make_transition_matrix(make_graph(3, {{0, 1}, {0, 2}, {0, 1}}, {1, 4, 3}));
    CHECK(matrix.link_count() == 2);
    CHECK(matrix.distinct_links == 2);
    CHECK(matrix.in_links.values == Array<double>{0.5, 0.5});
  }
}

TEST_CASE("an undirected graph counts each link both ways and self loops once") {
  EdgeList edges = make_graph(3, {{1, 0}, {1, 1}, {2, 1}});
  edges.undirected = true;
  const TransitionMatrix matrix = make_transition_matrix(edges);
  CHECK(matrix.link_count() == 5);
  CHECK(matrix.inverse_out_weight == Array<double>{1, 1.0 / 3, 1});
}

TEST_CASE("a node whose links all weigh zero is dangling") {
  const TransitionMatrix matrix =
      make_transition_matrix(make_graph(3, {{0, 1}, {1, 2}, {2, 0}}, {0, 1, 2}));
  CHECK(matrix.dangling == std::vector<NodeId>{0});
  CHECK(matrix.in_links.values == Array<double>{1, 0, 1});
}

TEST_CASE("weights near the limits of double keep their proportions") {
  const double huge = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const TransitionMatrix matrix = make_transition_matrix(make_graph(
      4, {{0, 1}, {0, 2}, {0, 3}, {0, 3}, {1, 2}, {1, 3}}, {huge, huge, huge, huge, tiny, tiny}));
  const std::vector<double> b = dense(matrix);
  CHECK(b[1 * 4 + 0] == 0.25);
  CHECK(b[2 * 4 + 0] == 0.25);
  CHECK(b[3 * 4 + 0] == 0.5);
  CHECK(b[2 * 4 + 1] == 0.5);
  CHECK(b[3 * 4 + 1] == 0.5);
}

TEST_CASE("the matrix equals the definition on random graphs, and is valid CSR") {
  for (const bool weighted : {false, true}) {
    for (const bool undirected : {false, true}) {
      for (const std::size_t entries : {0U, 1U, 40U, 900U}) {
        CAPTURE(weighted);
        CAPTURE(undirected);
        CAPTURE(entries);
        EdgeList edges = random_graph(40, entries, weighted, 7);
        edges.undirected = undirected;
        const TransitionMatrix matrix = make_transition_matrix(edges, 3);
        CHECK_NOTHROW(matrix.in_links.validate());
        const std::vector<double> b = dense(matrix), expected = dense_by_definition(edges);
        double largest = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
          largest = std::max(largest, std::abs(b[i] - expected[i]));
        }
        CHECK(largest < 1e-15);
      }
    }
  }
}

TEST_CASE("edge lists that break their promises are refused") {
  CHECK_THROWS_AS((void)make_transition_matrix(make_graph(2, {{0, 2}})), std::invalid_argument);
  CHECK_THROWS_AS((void)make_transition_matrix(make_graph(2, {{2, 0}})), std::invalid_argument);
  CHECK_THROWS_AS((void)make_transition_matrix(make_graph(2, {{0, 1}}, {1, 2})),
                  std::invalid_argument);
  CHECK_THROWS_AS((void)make_transition_matrix(make_graph(2, {{0, 1}}, {-1})),
                  std::invalid_argument);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS((void)make_transition_matrix(make_graph(2, {{0, 1}}, {infinity})),
                  std::invalid_argument);
  EdgeList uneven = make_graph(2, {{0, 1}});
  uneven.targets.push_back(0);
  CHECK_THROWS_AS((void)make_transition_matrix(uneven), std::invalid_argument);
}

TEST_CASE("copies of a matrix share its arrays, which live as long as one of them") {
  TransitionMatrix copy;
  {
    const TransitionMatrix matrix = make_transition_matrix(make_graph(3, {{0, 1}, {2, 1}}));
    copy = matrix;
    CHECK(copy.in_links.column_indices.data() == matrix.in_links.column_indices.data());
  }
  CHECK(copy.in_links.column_indices == Array<NodeId>{0, 2});
  const TransitionMatrix moved = std::move(copy);
  CHECK(moved.node_count() == 3);
  CHECK(copy.node_count() == 0);  // NOLINT(*-use-after-move): that is what is promised
  const auto numbers = std::make_shared<const std::vector<NodeId>>(std::vector<NodeId>{7, 8, 9});
  const SharedArray<NodeId> view(numbers, std::span(*numbers).subspan(1));
  CHECK(numbers.use_count() == 2);
  CHECK(view == Array<NodeId>{8, 9});
}

TEST_CASE("an array is taken only from who alone has it") {
  SharedArray<NodeId> alone{4, 5, 6};
  const NodeId* const place = alone.data();
  SharedArray<NodeId> elsewhere = std::move(alone);
  CHECK(alone.empty());  // NOLINT(*-use-after-move): that is what is promised
  CHECK(elsewhere.data() == place);
  alone = std::move(elsewhere);
  CHECK(elsewhere.empty());  // NOLINT(*-use-after-move)
  const Array<NodeId> taken = alone.take();
  CHECK(taken.data() == place);
  CHECK(taken == Array<NodeId>{4, 5, 6});
  CHECK(alone.empty());
  CHECK(alone.take().empty());

  SharedArray<NodeId> shared{7, 8};
  const SharedArray<NodeId> copy = shared;
  CHECK(shared.take().empty());
  CHECK(shared.empty());
  CHECK(copy == Array<NodeId>{7, 8});

  const auto numbers = std::make_shared<const std::vector<NodeId>>(std::vector<NodeId>{7, 8, 9});
  SharedArray<NodeId> view(numbers, *numbers);
  CHECK(view.take().empty());
  CHECK(numbers.use_count() == 1);
}

TEST_CASE("CSR validation names each broken rule") {
  const CsrMatrix good = make_transition_matrix(make_graph(3, {{0, 1}, {2, 1}})).in_links;
  CHECK_NOTHROW(good.validate());
  CHECK(good.row_offsets == Array<EdgeIndex>{0, 0, 2, 2});
  CHECK(good.column_indices == Array<NodeId>{0, 2});
  const auto broken = [&good](auto change) {
    CsrMatrix matrix = good;
    change(matrix);
    CHECK_THROWS_AS(matrix.validate(), std::invalid_argument);
  };
  broken([](CsrMatrix& m) { m.row_offsets = Array<EdgeIndex>{}; });
  broken([](CsrMatrix& m) { m.row_offsets = {1, 1, 2, 2}; });
  broken([](CsrMatrix& m) { m.row_offsets = {0, 0, 1, 1}; });
  broken([](CsrMatrix& m) { m.row_offsets = {0, 3, 2, 2}; });
  broken([](CsrMatrix& m) { m.values = {1}; });
  broken([](CsrMatrix& m) { m.column_indices = {2, 0}; });
  broken([](CsrMatrix& m) { m.column_indices = {0, 3}; });
}

TEST_SUITE_END();
}  // namespace pagerank::tests
