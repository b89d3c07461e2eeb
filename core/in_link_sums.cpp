#include "core/in_link_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pagerank {
namespace {

/// What stretches of neighbouring links look like.
struct Shape {
  double lines_per_link;  ///< Cache lines of z that they ask for.
  double runs_per_link;   ///< Of a BlockedLayout.
};

Shape sample_shape(const CsrMatrix& links, std::size_t value_bytes, std::uint32_t window_nodes) {
  constexpr std::size_t stretches = 64, length = 2048, line_bytes = 64;
  std::size_t lines = 0, runs = 0, seen = 0;
  std::vector<std::uint64_t> touched;
  for (std::size_t s = 0; s < stretches; ++s) {
    const EdgeIndex begin = links.element_count() / stretches * s;
    const EdgeIndex end = std::min(links.element_count(), begin + length);
    auto row_end = std::upper_bound(links.row_offsets.begin(), links.row_offsets.end(), begin);
    touched.clear();
    for (EdgeIndex k = begin; k < end; ++k) {
      const NodeId column = links.column_indices[k];
      bool new_run =
          k == begin || links.column_indices[k - 1] / window_nodes != column / window_nodes;
      for (; *row_end == k; ++row_end) new_run = true;
      runs += new_run ? 1 : 0;
      touched.push_back(column * value_bytes / line_bytes);
    }
    std::sort(touched.begin(), touched.end());
    lines +=
        static_cast<std::size_t>(std::unique(touched.begin(), touched.end()) - touched.begin());
    seen += touched.size();
  }
  return {static_cast<double>(lines) / static_cast<double>(seen),
          static_cast<double>(runs) / static_cast<double>(seen)};
}

/// Nanoseconds of a core until a line of z comes that has to come from a cache, or memory, large
/// enough for all of z, many being under way: linear between these, in the logarithm.
double line_cost(double bytes) {
  constexpr std::array<std::pair<double, double>, 5> costs = {
      {{0x1p18, 0.1}, {0x1p22, 0.5}, {0x1p23, 0.8}, {0x1p24, 3}, {0x1p25, 5.5}}};
  if (bytes <= costs.front().first) return costs.front().second;
  for (std::size_t i = 1; i < costs.size(); ++i) {
    const auto [below, cost_below] = costs[i - 1];
    const auto [above, cost_above] = costs[i];
    if (bytes > above) continue;
    return cost_below +
           (cost_above - cost_below) * std::log(bytes / below) / std::log(above / below);
  }
  return costs.back().second;
}

}  // namespace

CpuLayout InLinkSums::choose(BlockedSizes& sizes) const {
  constexpr EdgeIndex least_links = 1 << 20;  // smaller ones are done before it is prepared
  const EdgeIndex links = matrix_.link_count();
  if (links < least_links) return CpuLayout::plain;
  const std::size_t value_bytes = narrow_ ? sizeof(float) : sizeof(double);
  const Shape shape = sample_shape(matrix_.in_links, value_bytes, sizes.window_nodes);
  const auto nodes = static_cast<double>(matrix_.node_count());
  const auto width = static_cast<double>(value_bytes);
  // Nanoseconds of a core a link, measured on a Zen 4 (docs/performance.md): rows of no predictable
  // length, lines, rows; links and runs; and two passes that sort runs.
  const double plain = 1.2 + shape.lines_per_link * line_cost(nodes * width) +
                       1.5 * nodes / static_cast<double>(links);
  const double blocked = 0.5 + shape.runs_per_link * (0.25 + 0.2 * width);
  const double preparing = 4 + 12 * shape.runs_per_link;
  constexpr double iterations = 10;  // few solves have less
  if (iterations * (plain - blocked) <= preparing) return CpuLayout::plain;

  // Partial sums take 3/8 of a byte a link: with that a whole solve keeps to 2.5 times the matrix.
  sizes.group_bytes = std::min<std::size_t>(
      sizes.group_bytes, std::max<std::size_t>(sizes.streamed_bytes, links / 8 * 3));
  // Where almost every link is a run anyway, windows may as well be as small as a core's first
  // cache, as long as segments stay long.
  constexpr double mostly_single = 0.6, least_runs = 64;
  BlockedSizes small = sizes;
  small.window_nodes = 1 << 13;
  small.block_rows = 1 << 14;
  const double segments = nodes / small.window_nodes * nodes / small.block_rows;
  if (shape.runs_per_link > mostly_single && static_cast<double>(links) / segments > least_runs) {
    sizes = small;
  }
  return CpuLayout::blocked;
}

std::uint64_t InLinkSums::bytes(std::size_t value_bytes) const {
  const std::uint64_t links = matrix_.link_count(), nodes = matrix_.node_count();
  if (!blocked_) {
    return links * (sizeof(NodeId) + (matrix_.weighted() ? sizeof(double) : 0)) +
           nodes * (sizeof(EdgeIndex) + value_bytes);
  }
  return links * (sizeof(std::uint16_t) + (matrix_.weighted() ? value_bytes : 0)) +
         blocked_->rows.size() * (sizeof(std::uint16_t) + 2 * value_bytes) +
         blocked_->groups.size() * nodes * value_bytes;
}

}  // namespace pagerank
