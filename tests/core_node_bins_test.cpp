#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/node_bins.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

namespace {

/// Checks what is true of all bins.
void check_bins(const NodeBins& bins, NodeId nodes, int shift) {
  REQUIRE(bins.count() > 0);
  CHECK(bins.count() <= NodeBins::most_bins(nodes, shift));
  CHECK(bins.begin(0) == 0);
  CHECK(bins.end(bins.count() - 1) == nodes);
  std::size_t wrong = 0;
  for (std::size_t bin = 0; bin < bins.count() && nodes > 0; ++bin) {
    const NodeId begin = bins.begin(bin), end = bins.end(bin);
    const std::uint64_t size = std::bit_ceil(std::uint64_t{bins.size(bin)});
    wrong += begin >= end || begin % size != 0 || size > std::uint64_t{1} << shift;
    wrong += size != bins.size(bin) && end != nodes;
    wrong += bins.base(bin) != begin - begin % (std::uint64_t{1} << shift);
    wrong += bins.bin_of(begin) != bin || bins.bin_of(end - 1) != bin;
  }
  CHECK(wrong == 0);
}

std::size_t fullest(const NodeBins& bins, const std::vector<NodeId>& ends) {
  std::vector<std::size_t> counts(bins.count());
  for (const NodeId node : ends) ++counts[bins.bin_of(node)];
  return *std::max_element(counts.begin(), counts.end());
}

}  // namespace

TEST_CASE("bins of nodes have all nodes, each a power of two of them that it begins at") {
  for (const NodeId nodes : {0U, 1U, 3U, 4096U, 70'001U, (1U << 20) + 5, 0xFFFF'FFFEU}) {
    CAPTURE(nodes);
    for (const int shift : {0, 5, 12, 16}) {
      CAPTURE(shift);
      if (nodes >> shift > 1 << 16) continue;  // more bins than there ever are
      check_bins(NodeBins(nodes, shift, {}), nodes, shift);
      if (nodes == 0) continue;
      check_bins(NodeBins(nodes, shift, std::vector<NodeId>(5000, nodes - 1)), nodes, shift);
      check_bins(NodeBins(nodes, shift, std::vector<NodeId>(5000, 0)), nodes, shift);
    }
  }
}

TEST_CASE("bins are halved where a sample has many links, and nowhere else") {
  constexpr NodeId nodes = 1 << 20;
  constexpr int shift = 12;
  std::mt19937 random(7);
  std::vector<NodeId> alike, many_low, many_high, one_node;
  for (int i = 0; i < 16'000; ++i) {
    alike.push_back(static_cast<NodeId>(random() % nodes));
    NodeId node = 0;  // each bit is set in 24 of 100, as R-MAT has it
    for (int bit = 0; bit < 20; ++bit) node = node * 2 + (random() % 100 < 24 ? 1 : 0);
    many_low.push_back(node);
    many_high.push_back(nodes - 1 - node);
    one_node.push_back(i % 4 == 0 ? 700'001 : alike.back());
  }
  const NodeBins even(nodes, shift, alike);
  CHECK(even.count() == 256);
  for (const auto& sample : {many_low, many_high}) {
    const NodeBins bins(nodes, shift, sample);
    check_bins(bins, nodes, shift);
    CHECK(bins.count() > 256);
    CHECK(fullest(even, sample) > sample.size() / 10);  // 0.76^8
    CHECK(fullest(bins, sample) < sample.size() / 40);  // 0.76^14
  }
  // Of few links none are cut: most bins have none of them.
  for (const std::size_t size : {std::size_t{1}, std::size_t{10}, std::size_t{255}}) {
    CHECK(NodeBins(nodes, shift, std::span(many_low).first(size)).count() == 256);
  }
  const NodeBins of_many((1 << 27) + 1, 16, many_low);
  check_bins(of_many, (1 << 27) + 1, 16);
  CHECK(of_many.count() > 2049 + 40);  // of the 64 cells that those are in
  // Around one node that has many the bins are as small as they may be.
  const NodeBins bins(nodes, shift, one_node);
  check_bins(bins, nodes, shift);
  CHECK(bins.count() == 256 + 6);
  CHECK(bins.size(bins.bin_of(700'001)) == 64);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
