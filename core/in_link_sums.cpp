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
/// enough for all of z, many being under way: linear between these, in the logarithm. From a third
/// level of cache that is 0.5 to 0.8 on a Zen and 3 on a Xeon. There it is between the two: by the
/// former's times it is nearly the same which layout is taken, by the latter's it is not.
double line_cost(double bytes) {
  constexpr std::array<std::pair<double, double>, 6> costs = {
      {{0x1p18, 0.1}, {0x1p21, 0.4}, {0x1p22, 1.2}, {0x1p23, 1.8}, {0x1p24, 3.3}, {0x1p25, 5.5}}};
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

double segment_count(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes) {
  const auto nodes = static_cast<double>(links.row_count());
  return std::ceil(nodes / window_nodes(sizes, narrow)) * std::ceil(nodes / sizes.block_rows);
}

}  // namespace

double least_usual_iterations(double alpha, double tolerance) {
  constexpr double mixing = 0.25;
  return std::max(1.0, 1 + std::log(tolerance) / std::log(mixing * alpha));
}

std::uint64_t bytes_to_lay_out(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes) {
  const bool weighted = !links.values.empty();
  // Exact sums of floats' layout need the links as they are.
  const bool ids_are_left = links.column_indices.is_sole_owner() && !(weighted && narrow);
  std::uint64_t a_link = 2 * sizeof(std::uint16_t);  // sources, and as many runs' rows
  if (weighted) a_link += narrow ? sizeof(float) : sizeof(double);
  if (!ids_are_left) a_link += sizeof(NodeId);
  // Padding, the segment and a class or two; twice while they are put together.
  constexpr double a_segment = 2 * (sizeof(BlockedLayout::Segment) + 16);
  return links.element_count() * a_link +
         static_cast<std::uint64_t>(a_segment * segment_count(links, narrow, sizes));
}

CpuLayout InLinkSums::choose(double iterations, const BlockedSizes& sizes) const {
  constexpr EdgeIndex least_links = 1 << 20;  // smaller ones are done before it is prepared
  const EdgeIndex links = links_.element_count();
  if (links < least_links) return CpuLayout::plain;
  // Segments are padded, and each takes some bytes of its own: they have to hold some links. (With
  // 16 links a node they do up to about 2^30 nodes.)
  constexpr double least_a_segment = 32;
  const auto nodes = static_cast<double>(links_.row_count());
  if (static_cast<double>(links) < least_a_segment * segment_count(links_, narrow_, sizes)) {
    return CpuLayout::plain;
  }
  const std::size_t value_bytes = narrow_ ? sizeof(float) : sizeof(double);
  const Shape shape = sample_shape(links_, value_bytes, window_nodes(sizes, narrow_));
  const auto width = static_cast<double>(value_bytes);
  // Nanoseconds of a core a link, measured on a Zen 4, a Zen 5 and a Xeon
  // (docs/performance-cpu.md): rows of no predictable length, lines, rows; links and runs; and two
  // passes that sort runs.
  const double plain = 1.2 + shape.lines_per_link * line_cost(nodes * width) +
                       1.5 * nodes / static_cast<double>(links);
  const double blocked = 0.55 + shape.runs_per_link * 0.12 * width;
  const double preparing = 4 + 5.5 * shape.runs_per_link;
  return iterations * (plain - blocked) <= preparing ? CpuLayout::plain : CpuLayout::blocked;
}

void InLinkSums::lay_out(const BlockedSizes& sizes) {
  blocked_ = make_blocked_layout(links_, narrow_, sizes, team_);
  if (!exactly_blocked()) return;
  partials_ = ScratchMemory(links_.column_indices.take());
  partials_.shrink(std::max(blocked_->sizes.group_bytes, bytes_of_partials()));
  links_ = {};
}

std::uint64_t InLinkSums::bytes(std::size_t value_bytes) const {
  if (!blocked_) {
    return links_.element_count() * (sizeof(NodeId) + (weighted_ ? sizeof(double) : 0)) +
           std::uint64_t{links_.row_count()} * (sizeof(EdgeIndex) + value_bytes);
  }
  return blocked_->sources.size() * (sizeof(std::uint16_t) + (weighted_ ? value_bytes : 0)) +
         blocked_->rows.size() * (sizeof(std::uint16_t) + 2 * value_bytes) +
         blocked_->groups.size() * blocked_->node_count * value_bytes;
}

}  // namespace pagerank
