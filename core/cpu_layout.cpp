#include "core/cpu_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace pagerank {
namespace {

/// Counts different numbers among at most LinkSample::length.
class DistinctNumbers {
 public:
  [[nodiscard]] std::size_t count() const { return count_; }

  void clear() {
    std::ranges::fill(slots_, nothing);
    count_ = 0;
  }
  /// Of less than 2^32 - 1.
  void add(std::uint32_t number) {
    constexpr std::uint32_t golden_ratio = 0x9e3779b9;  // Knuth, TAOCP 6.4: multiplicative hashing
    for (std::size_t at = (number * golden_ratio) >> (32 - bits);; at = (at + 1) % slots_.size()) {
      if (slots_[at] == number) return;
      if (slots_[at] != nothing) continue;
      slots_[at] = number;
      ++count_;
      return;
    }
  }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  static constexpr unsigned bits = std::bit_width(2 * LinkSample::length - 1);
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(std::size_t{1} << bits, nothing);
  std::size_t count_ = 0;
};

/// What stretches of neighbouring links look like.
struct Shape {
  double lines_per_link;  ///< Cache lines of z that they ask for.
  double runs_per_link;   ///< Of a BlockedLayout.
};

Shape shape_of(const LinkSample& sample, std::size_t value_bytes, std::uint32_t window_nodes) {
  constexpr std::size_t line_bytes = 64, seen = LinkSample::stretches * LinkSample::length;
  std::size_t lines = 0, runs = 0;
  DistinctNumbers touched;
  for (std::size_t s = 0; s < LinkSample::stretches; ++s) {
    std::uint64_t window = ~std::uint64_t{0};
    touched.clear();
    for (std::size_t i = 0; i < LinkSample::length; ++i) {
      const auto [column, begins_row] = sample.link(s, i);
      const std::uint64_t last = std::exchange(window, column / window_nodes);
      runs += begins_row || window != last ? 1 : 0;
      touched.add(static_cast<std::uint32_t>(column * value_bytes / line_bytes));
    }
    lines += touched.count();
  }
  return {static_cast<double>(lines) / seen, static_cast<double>(runs) / seen};
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

double segment_count(NodeId nodes, bool narrow, const BlockedSizes& sizes) {
  return std::ceil(nodes / static_cast<double>(window_nodes(sizes, narrow))) *
         std::ceil(nodes / static_cast<double>(sizes.block_rows));
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
         static_cast<std::uint64_t>(a_segment * segment_count(links.row_count(), narrow, sizes));
}

LinkSample::LinkSample(const CsrMatrix& links) : LinkSample() {
  for (std::size_t s = 0; s < stretches; ++s) {
    const EdgeIndex first = begin(s, links.element_count());
    auto row_end = std::upper_bound(links.row_offsets.begin(), links.row_offsets.end(), first);
    bool begins_row = row_end[-1] == first;
    for (std::size_t i = 0; i < length; ++i) {
      for (; *row_end == first + i; ++row_end) begins_row = true;
      link(s, i) = {links.column_indices[first + i], std::exchange(begins_row, false)};
    }
  }
}

/// Smaller ones are done before it is prepared. And segments are padded, and each takes some bytes
/// of its own: they have to hold some links. (With 16 links a node they do up to about 2^30 nodes.)
bool detail::is_worth_a_look(NodeId nodes, EdgeIndex links, const LayoutWish& wish) {
  constexpr double least_a_segment = 32;
  return links >= LinkSample::least_links &&
         static_cast<double>(links) >=
             least_a_segment * segment_count(nodes, wish.narrow, wish.sizes);
}

CpuLayout detail::choose_by_sample(NodeId nodes, EdgeIndex links, const LayoutWish& wish,
                                   const LinkSample& sample) {
  const std::size_t value_bytes = wish.narrow ? sizeof(float) : sizeof(double);
  const Shape shape = shape_of(sample, value_bytes, window_nodes(wish.sizes, wish.narrow));
  const auto width = static_cast<double>(value_bytes);
  // Nanoseconds of a core a link, measured on a Zen 4, a Zen 5 and a Xeon
  // (docs/notebook/cpu.md): rows of no predictable length, lines, rows; links and runs; and two
  // passes that sort runs.
  const double plain = 1.2 + shape.lines_per_link * line_cost(nodes * width) +
                       1.5 * nodes / static_cast<double>(links);
  const double blocked = 0.55 + shape.runs_per_link * 0.12 * width;
  const double preparing = 4 + 5.5 * shape.runs_per_link;
  return wish.expected_iterations * (plain - blocked) <= preparing ? CpuLayout::plain
                                                                   : CpuLayout::blocked;
}

}  // namespace pagerank
