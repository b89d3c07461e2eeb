// What is looked at of a matrix before a kernel is chosen: without a GPU.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/transition_matrix.hpp"
#include "gpu/graph_shape.hpp"
#include "gpu/matrix_sampler.hpp"

namespace pagerank::gpu {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("each link's row is found, also beside rows without links") {
  for (const std::vector<EdgeIndex>& lengths :
       {std::vector<EdgeIndex>{0, 0, 3, 0, 1, 0, 0, 0, 40, 2, 0}, std::vector<EdgeIndex>{1},
        std::vector<EdgeIndex>{5, 0}, std::vector<EdgeIndex>{0, 7}, std::vector<EdgeIndex>(64, 2),
        std::vector<EdgeIndex>(63, 1)}) {
    EdgeList edges;
    edges.node_count = 64;  // empty rows at the end, too, but where there are as many
    std::vector<MatrixSampler::Row> rows;  // of each link
    for (NodeId row = 0; row < lengths.size(); ++row) {
      const EdgeIndex begin = edges.targets.size();
      for (EdgeIndex k = 0; k < lengths[row]; ++k) {
        edges.sources.push_back(static_cast<NodeId>(k));
        edges.targets.push_back(row);
        rows.push_back({begin, begin + lengths[row], row});
      }
    }
    const TransitionMatrix matrix = make_transition_matrix(edges);
    std::vector<EdgeIndex> links(rows.size());
    std::iota(links.begin(), links.end(), 0);
    const std::vector<MatrixSampler::Row> found = HostSampler(matrix).rows_of(links);
    REQUIRE(found.size() == rows.size());
    for (std::size_t link = 0; link < rows.size(); ++link) {
      CAPTURE(link);
      CHECK(found[link].begin == rows[link].begin);
      CHECK(found[link].end == rows[link].end);
      CHECK(found[link].node == rows[link].node);
    }
  }
}

TEST_CASE("sectors are counted once in each stretch of links") {
  // All nodes link to one, in order of their numbers: eight floats and four doubles a sector.
  constexpr NodeId nodes = 1 << 20;
  EdgeList edges;
  edges.node_count = nodes;
  for (NodeId node = 0; node < nodes; ++node) {
    edges.sources.push_back(node);
    edges.targets.push_back(7);
  }
  const TransitionMatrix matrix = make_transition_matrix(edges);
  CHECK(measure_shape(HostSampler(matrix), 4).sectors_per_link == 1.0 / 8);
  CHECK(measure_shape(HostSampler(matrix), 8).sectors_per_link == 1.0 / 4);
}

TEST_SUITE_END();
}  // namespace pagerank::gpu
