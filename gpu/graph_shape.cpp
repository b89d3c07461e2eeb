#include "gpu/graph_shape.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "gpu/blocked_shape.hpp"
#include "gpu/row_sample.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::size_t sector_bytes = 32;
constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // of 2^64: multiples scatter

/// Numbers that have been added, `most` of them or fewer.
class SmallSet {
 public:
  explicit SmallSet(std::size_t most) : slots_(std::bit_ceil(2 * most), none) {}
  void clear() { std::fill(slots_.begin(), slots_.end(), none); }
  /// Whether it is new.
  bool add(std::uint64_t number) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (number * golden_ratio >> 32) & mask;
    while (slots_[slot] != none && slots_[slot] != number) slot = (slot + 1) & mask;
    return std::exchange(slots_[slot], number) == none;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::vector<std::uint64_t> slots_;
};

/// So many sixteenths of the rows and stretches that are looked at of a large graph: of a smaller
/// one there is less to lose by a wrong choice, and all of a solve may take as long as looking.
std::size_t sixteenths(const MatrixSampler& matrix) {
  const EdgeIndex links = matrix.link_count();
  return std::clamp<std::size_t>(links >> 22, links >= least_links_to_prepare_early ? 8 : 4, 16);
}

double sample_sectors(const MatrixSampler& matrix, std::size_t value_bytes) {
  const std::size_t stretches = sixteenths(matrix);
  constexpr std::size_t length = 1024;
  const EdgeIndex stride = matrix.link_count() / stretches;
  const std::size_t seen = std::min<EdgeIndex>(length, stride);
  std::vector<EdgeIndex> links(stretches * seen);
  for (std::size_t i = 0; i < links.size(); ++i) {  // from the middle of each stride
    links[i] = i / seen * stride + (stride - seen) / 2 + i % seen;
  }
  const std::vector<NodeId> columns = matrix.columns(links);
  std::size_t sectors = 0;
  SmallSet touched(seen);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i % seen == 0) touched.clear();
    sectors += touched.add(columns[i] * value_bytes / sector_bytes);
  }
  return static_cast<double>(sectors) / static_cast<double>(links.size());
}

/// Some nodes, one from each of equal stretches, anywhere in it but always the same: numbers that
/// are a multiple of a power of two are those of R-MAT's hubs.
std::vector<NodeId> sample_nodes(const MatrixSampler& matrix, std::uint64_t most) {
  const std::uint64_t count = matrix.node_count(), length = (count + most - 1) / most;
  std::vector<NodeId> nodes;
  for (std::uint64_t begin = 0; begin < count; begin += length) {
    const std::uint64_t anywhere = (begin / length + 1) * golden_ratio >> 32;
    nodes.push_back(static_cast<NodeId>(begin + anywhere % std::min(length, count - begin)));
  }
  return nodes;
}

/// About where nodes stand when ordered by falling out-degree. What a link tells of its source's
/// degree is its element of B, 1 / degree; with weights, roughly.
class DegreeOrder {
 public:
  explicit DegreeOrder(const MatrixSampler& matrix) : nodes_(matrix.node_count()) {
    if (matrix.weighted()) {
      sample_sources(matrix);
    } else {
      for (const double inverse : matrix.inverse_out_weights(sample_nodes(matrix, samples))) {
        keys_.push_back(inverse > 0 ? inverse : HUGE_VAL);
      }
    }
    std::sort(keys_.begin(), keys_.end());
    equals_.resize(keys_.size(), 1);
    for (std::size_t i = keys_.size(); i-- > 1;) {
      if (keys_[i - 1] == keys_[i]) equals_[i - 1] = equals_[i] + 1;
    }
  }
  /// In [0, 1).
  [[nodiscard]] double place(NodeId node, double element) const {
    const auto begin = std::lower_bound(keys_.begin(), keys_.end(), element);
    const auto index = static_cast<std::size_t>(begin - keys_.begin());
    const std::size_t equals = begin == keys_.end() || *begin > element ? 0 : equals_[index];
    const double among_equals = static_cast<double>(node) / static_cast<double>(nodes_);
    return (static_cast<double>(index) + static_cast<double>(equals) * among_equals) /
           (static_cast<double>(keys_.size()) + 1);
  }

 private:
  static constexpr std::size_t samples = 1 << 10;

  /// Links lead to sources by their degree; of those drawn, each stays with a probability that is
  /// its element, times as much as keeps about `samples` of them.
  void sample_sources(const MatrixSampler& matrix) {
    std::vector<EdgeIndex> links(16 * samples);
    for (std::size_t i = 0; i < links.size(); ++i) {
      links[i] = matrix.link_count() / links.size() * i;
    }
    const std::vector<double> elements = matrix.elements(links);
    const double sum = std::accumulate(elements.begin(), elements.end(), 0.0);
    double kept = 0;
    for (const double element : elements) {
      // Systematic sampling: one each time the running sum passes a whole number.
      const auto before = static_cast<std::size_t>(kept);
      kept += sum > 0 ? element * static_cast<double>(samples) / sum : 0;
      keys_.insert(keys_.end(), static_cast<std::size_t>(kept) - before, element);
    }
    // All elements of B add up to the nodes that have out-links; the others stand last.
    const double sources = sum / static_cast<double>(elements.size()) *
                           static_cast<double>(matrix.link_count()) / static_cast<double>(nodes_);
    const auto others =
        static_cast<double>(keys_.size()) * (1 / std::clamp(sources, 0.01, 1.0) - 1);
    keys_.insert(keys_.end(), static_cast<std::size_t>(others), HUGE_VAL);
  }

  std::uint64_t nodes_;
  std::vector<double> keys_;         ///< Of nodes, ascending.
  std::vector<std::size_t> equals_;  ///< Of each key, how many from there on are the same.
};

struct Runs {
  double as_numbered, by_degree, anywhere;  ///< Per link; the last where links lead anywhere.
};
Runs sample_runs(const MatrixSampler& matrix, std::uint32_t window_size) {
  const RowSample sample = sample_rows(matrix, 8 * sixteenths(matrix));
  const std::vector<double> elements = matrix.elements(sample.links);
  const DegreeOrder order(matrix);
  std::vector<NodeId> places(elements.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<NodeId>(order.place(sample.columns[i], elements[i]) *
                                    static_cast<double>(matrix.node_count()));
  }
  return {sample.runs_per_link(sample.columns, matrix.node_count(), window_size),
          sample.runs_per_link(places, matrix.node_count(), window_size),
          sample.runs_per_random_link(matrix.node_count(), window_size)};
}

double sample_isolated(const MatrixSampler& matrix) {
  const std::vector<NodeId> nodes = sample_nodes(matrix, 1 << 12);
  const std::vector<MatrixSampler::Row> in_links = matrix.rows(nodes);
  const std::vector<double> inverses = matrix.inverse_out_weights(nodes);
  std::size_t isolated = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    isolated += in_links[i].begin == in_links[i].end && inverses[i] == 0;
  }
  return static_cast<double>(isolated) / static_cast<double>(nodes.size());
}

/// Some links, evenly apart, and what is known of them.
struct LinkSample {
  explicit LinkSample(const MatrixSampler& matrix) {
    std::vector<EdgeIndex> links(count);
    for (EdgeIndex s = 0; s < count; ++s) links[s] = matrix.link_count() / count * s;
    elements = matrix.elements(links);
    sources = matrix.columns(links);
    for (const MatrixSampler::Row& row : matrix.rows_of(links)) targets.push_back(row.node);
    of_targets = matrix.inverse_out_weights(targets);
  }
  static constexpr EdgeIndex count = 1024;
  std::vector<double> elements;
  std::vector<NodeId> sources, targets;
  std::vector<double> of_targets;  ///< Inverse out-weights: 0 of those without links.
};

/// Where nearly all links lead the same way through the nodes' numbers, as citations lead back in
/// time, rank goes that way until it comes to the last of them, and anywhere from there. Each step
/// leaves of the way, in the logarithm, so much on average, so that the number of steps T is about
/// Poisson's with a mean of m. In such a renewal process what is out of step shrinks by 1/|z| where
/// E z^T = exp(m (z - 1)) = 1: z = 1 + 2 pi i / m. 0: links lead either way, or many walks end
/// before, at a node without links, of which this says nothing.
double mixing_one_way(const LinkSample& sample, std::uint64_t nodes) {
  constexpr double nearly_all = 0.98 * LinkSample::count, most_ends = 0.25;
  std::size_t down = 0, up = 0;
  double way_down = 0, way_up = 0, ends = 0, sum = 0;
  const auto way = [nodes](NodeId from, NodeId to) {  // to the node numbered 0, of all of it
    return std::log((from + 1.0) / (to + 1.0)) / std::log(static_cast<double>(nodes));
  };
  for (std::size_t i = 0; i < LinkSample::count; ++i) {
    const NodeId source = sample.sources[i], target = sample.targets[i];
    const auto last = static_cast<NodeId>(nodes - 1);
    const double probability = std::min(1.0, sample.elements[i]);
    down += target < source;
    up += target > source;
    way_down += probability * way(source, target);
    way_up += probability * way(last - source, last - target);
    ends += sample.of_targets[i] == 0 ? probability : 0;
    sum += probability;
  }
  const bool goes_down = static_cast<double>(down) >= nearly_all;
  if (!(sum > 0) || (!goes_down && static_cast<double>(up) < nearly_all)) return 0;
  const double of_step = std::max(0.0, (goes_down ? way_down : way_up) / sum);  // 1 / m
  if (ends / sum > most_ends * of_step) return 0;
  const double turn = 2 * std::numbers::pi * of_step;
  return 1 / std::sqrt(1 + turn * turn);
}

/// A random walk forgets where it came from the faster, the more ways lead on; slowly if it stays
/// near, or goes from hub to hub. A fit to iterations of generated graphs (docs/notebook/gpu.md).
double estimate_mixing(const MatrixSampler& matrix, const Runs& runs) {
  const LinkSample sample(matrix);
  constexpr auto samples = static_cast<double>(LinkSample::count);
  double sum = 0, sum_of_degrees = 0;
  for (const double element : sample.elements) {
    sum += std::min(1.0, element);
    sum_of_degrees += element > 0 ? 1 / element : 0;
  }
  const double ways = std::sqrt(sum / samples);
  const double nearness = 1 - runs.as_numbered / runs.anywhere;
  // 0 where all sources have as many links, towards 1 where few have most.
  const double hubs = 1 - samples / sum * (samples / std::max(sum_of_degrees, 1.0));
  return std::clamp(std::max({ways, 0.95 * nearness, 1.15 * hubs * std::sqrt(ways),
                              mixing_one_way(sample, matrix.node_count())}),
                    0.1, 1.0);
}

}  // namespace

GraphShape measure_shape(const MatrixSampler& matrix, std::size_t value_bytes,
                         const SharedMemory& shared_memory) {
  GraphShape shape{
      .nodes = matrix.node_count(), .links = matrix.link_count(), .weighted = matrix.weighted()};
  if (shape.links == 0) return shape;
  shape.sectors_per_link = sample_sectors(matrix, value_bytes);
  const Runs runs = sample_runs(matrix, blocked_shape(value_bytes, shared_memory).window_size);
  shape.runs_per_link =
      runs.by_degree < worth_renumbering * runs.as_numbered ? runs.by_degree : runs.as_numbered;
  shape.isolated = sample_isolated(matrix);
  shape.mixing = estimate_mixing(matrix, runs);
  return shape;
}

}  // namespace pagerank::gpu
