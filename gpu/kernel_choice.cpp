#include "gpu/kernel_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace pagerank::gpu {
namespace {

constexpr std::size_t sector_bytes = 32;

/// So many links are on their way for nearly as long as what can be done meanwhile takes.
constexpr EdgeIndex least_links_to_prepare_early = EdgeIndex{1} << 23;

std::size_t distinct(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  return static_cast<std::size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

/// out[i] = at(i) for i < count. By one thread, as all of this: others take about as long to come,
/// and the upload, beside which a graph is looked at, has work for them.
template <class T, class At>
std::vector<T> gather(std::size_t count, At at) {
  std::vector<T> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = at(i);
  return out;
}

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
  for (std::size_t s = 0; s < stretches; ++s) {
    std::vector<std::uint64_t> touched(seen);
    for (std::size_t i = 0; i < seen; ++i) {
      touched[i] = columns[s * seen + i] * value_bytes / sector_bytes;
    }
    sectors += distinct(touched);
  }
  return static_cast<double>(sectors) / static_cast<double>(links.size());
}

/// Some nodes, evenly apart.
std::vector<NodeId> sample_nodes(const MatrixSampler& matrix, std::uint64_t most) {
  const std::uint64_t stride = (matrix.node_count() + most - 1) / most;
  std::vector<NodeId> nodes;
  for (std::uint64_t node = 0; node < matrix.node_count(); node += stride) {
    nodes.push_back(static_cast<NodeId>(node));
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
  const auto places = gather<NodeId>(elements.size(), [&](std::size_t i) {
    return static_cast<NodeId>(order.place(sample.columns[i], elements[i]) *
                               static_cast<double>(matrix.node_count()));
  });
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

/// Sectors a second that all multiprocessors gather from x of so many bytes (docs/kernels.md; at
/// 2^19 and 2^24 fitted to whole iterations): linear between these, in the logarithm.
double gather_rate(double bytes) {
  constexpr std::array<std::pair<double, double>, 7> rates = {{{0x1p17, 650e9},
                                                               {0x1p19, 129e9},
                                                               {0x1p24, 115e9},
                                                               {0x1p25, 93e9},
                                                               {0x1p26, 50e9},
                                                               {0x1p27, 40e9},
                                                               {0x1p29, 31e9}}};
  if (bytes <= rates.front().first) return rates.front().second;
  for (std::size_t i = 1; i < rates.size(); ++i) {
    const auto [below, rate_below] = rates[i - 1];
    const auto [above, rate_above] = rates[i];
    if (bytes > above) continue;
    const double share = std::log(bytes / below) / std::log(above / below);
    return rate_below * std::pow(rate_above / rate_below, share);
  }
  return rates.back().second;
}

/// Of sectors of x that L2 holds memory's bandwidth is no matter, of those of four times as much it
/// is all.
double share_of_memory(double bytes) {
  return std::clamp(std::log2(bytes / 0x1p24) / 2, 0.0, 1.0);
}

constexpr double bytes_per_second = 2.6e12;  // of what `balanced` moves
constexpr double blocked_bytes_per_second = 2.4e12;
/// The first pass waits for memory, the second for L2.
constexpr double blocked_share_of_memory = 0.5;
/// Of an iteration, fitted to graphs of 2^18 nodes and more.
constexpr double launches_of_balanced = 20e-6, launches_of_blocked = 20e-6;

/// What is prepared passes through memory, and takes longer where that is slower than an H100's.
/// (On an H200, where it is faster, it was not seen to take less.)
double slower_memory(double bandwidth) {
  return std::max(1.0, h100_memory_bandwidth / bandwidth);
}

/// So long iterations go on beside preparing `blocked`, and beside what is left of it where its
/// start was held: more only put off those of `blocked` (measured, docs/notebook/gpu.md).
constexpr double idle_while_prepared = 2.7e-3, idle_when_held = 0.8e-3;
/// What is left takes longer beside iterations, for each step waits for blocks of the other kernel.
constexpr double held_takes_longer = 0.65e-3;

/// After so few iterations the ratio of two changes still goes where it went.
constexpr std::size_t changes_that_bend = 5;
/// The second ratio over the first: 1.09 to 1.64 of generated graphs that mix slowly (citations,
/// preferential attachment, traps, small worlds, webs, communities), 1.00 to 1.05 of others, among
/// them such with hubs, of which it falls later.
constexpr double least_rise = 1.08;
/// So much is believed of what three changes promise.
constexpr double of_three_changes = 0.85, of_three_that_hardly_rise = 0.5;

/// Of all that graphs of that size can be, what `blocked` gains the most with.
GraphShape most_for_blocked(const MatrixSampler& matrix) {
  return {.nodes = matrix.node_count(),
          .links = matrix.link_count(),
          .weighted = matrix.weighted(),
          .sectors_per_link = 1,
          .runs_per_link = 0,
          .isolated = 1,
          .mixing = 1};
}

}  // namespace

std::vector<MatrixSampler::Row> HostSampler::rows_of(const std::vector<EdgeIndex>& links) const {
  const auto& offsets = matrix_.in_links.row_offsets;
  return gather<Row>(links.size(), [&](std::size_t i) {
    const EdgeIndex* const end = std::upper_bound(offsets.begin(), offsets.end(), links[i]);
    return Row{end[-1], *end, static_cast<NodeId>(end - 1 - offsets.begin())};
  });
}
std::vector<MatrixSampler::Row> HostSampler::rows(const std::vector<NodeId>& nodes) const {
  const auto& offsets = matrix_.in_links.row_offsets;
  return gather<Row>(nodes.size(), [&](std::size_t i) {
    return Row{offsets[nodes[i]], offsets[std::size_t{nodes[i]} + 1], nodes[i]};
  });
}
std::vector<NodeId> HostSampler::columns(const std::vector<EdgeIndex>& links) const {
  return gather<NodeId>(links.size(),
                        [&](std::size_t i) { return matrix_.in_links.column_indices[links[i]]; });
}
std::vector<double> HostSampler::elements(const std::vector<EdgeIndex>& links) const {
  const CsrMatrix& matrix = matrix_.in_links;
  return gather<double>(links.size(), [&](std::size_t i) {
    return matrix.values.empty() ? matrix_.inverse_out_weight[matrix.column_indices[links[i]]]
                                 : matrix.values[links[i]];
  });
}
std::vector<double> HostSampler::inverse_out_weights(const std::vector<NodeId>& nodes) const {
  return gather<double>(nodes.size(),
                        [&](std::size_t i) { return matrix_.inverse_out_weight[nodes[i]]; });
}

std::size_t RowSample::most_columns(std::uint64_t nodes) {
  // Of the windows there are, so many see nearly all that a row falls into.
  const std::size_t windows = nodes / blocked_shape(sizeof(float)).window_size + 1;
  return std::clamp<std::size_t>(4 * windows, 64, 256);
}

RowSample sample_rows(const MatrixSampler& matrix, std::size_t most_rows) {
  const std::size_t most_columns = RowSample::most_columns(matrix.node_count());
  std::vector<EdgeIndex> links(most_rows);
  const EdgeIndex apart = matrix.link_count() / most_rows;
  for (std::size_t r = 0; r < most_rows; ++r) links[r] = r * apart + apart / 2;
  const std::vector<MatrixSampler::Row> rows = matrix.rows_of(links);
  RowSample sample;
  sample.links.reserve(most_rows * most_columns);
  for (const auto& [begin, end, node] : rows) {
    sample.begins.push_back(sample.links.size());
    sample.lengths.push_back(end - begin);
    const EdgeIndex stride = (end - begin + most_columns - 1) / most_columns;
    for (EdgeIndex k = begin; k < end; k += stride) sample.links.push_back(k);
  }
  sample.begins.push_back(sample.links.size());
  sample.columns = matrix.columns(sample.links);
  return sample;
}

double RowSample::runs_per_link(const std::vector<NodeId>& places, std::uint64_t nodes,
                                std::uint32_t window_size) const {
  double sum = 0;
  std::vector<std::size_t> last_row(nodes / window_size + 1, lengths.size());  // of each window
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    std::size_t windows = 0;
    for (std::uint64_t i = begins[r]; i < begins[r + 1]; ++i) {
      std::size_t& last = last_row[places[i] / window_size];
      windows += last != r ? 1 : 0;
      last = r;
    }
    sum += static_cast<double>(windows) / static_cast<double>(lengths[r]);
  }
  return sum / static_cast<double>(lengths.size());
}

double RowSample::runs_per_random_link(std::uint64_t nodes, std::uint32_t window_size) const {
  const double windows = std::ceil(static_cast<double>(nodes) / window_size);
  double sum = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto seen = static_cast<double>(begins[r + 1] - begins[r]);
    sum += windows * (1 - std::pow(1 - 1 / windows, seen)) / static_cast<double>(lengths[r]);
  }
  return sum / static_cast<double>(lengths.size());
}

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

KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes,
                            double memory_bandwidth) {
  const double faster = memory_bandwidth / h100_memory_bandwidth;
  const auto nodes = static_cast<double>(shape.nodes), links = static_cast<double>(shape.links);
  const auto width = static_cast<double>(value_bytes);
  const double links_bytes = links * (4 + (shape.weighted ? width : 0));
  const double nodes_bytes = nodes * (3.2 * width + 1);
  const double rate = gather_rate(nodes * width) * std::pow(faster, share_of_memory(nodes * width));
  const double gather = links * shape.sectors_per_link / rate;
  const double bandwidth = faster * bytes_per_second;
  return {.prepare = 0.1e-3,
          .iteration = launches_of_balanced + std::max(links_bytes / bandwidth, gather) +
                       nodes_bytes / bandwidth};
}

KernelCost cost_of_blocked(const GraphShape& shape, std::size_t value_bytes,
                           double memory_bandwidth) {
  const double faster = std::pow(memory_bandwidth / h100_memory_bandwidth, blocked_share_of_memory);
  const auto nodes = static_cast<double>(shape.nodes) * (1 - shape.isolated);
  const auto links = static_cast<double>(shape.links);
  const auto width = static_cast<double>(value_bytes);
  const double runs = links * shape.runs_per_link;
  // Of partial sums that L2 holds memory sees less.
  const double in_memory = std::clamp(std::log2(runs * width / 0x1p24) / 3, 0.0, 1.0);
  const double bytes = links * (2.4 + (shape.weighted ? width : 0)) +
                       runs * (1.7 + (1.15 + in_memory) * width) + nodes * 5.4 * width;
  const double sorted = links * (0.02e-9 + (shape.weighted ? width * 0.005e-9 : 0));
  const double passes = nodes * 0.35e-9 + sorted + runs * 0.05e-9;
  return {.prepare = 1.65e-3 + slower_memory(memory_bandwidth) * passes,
          .iteration = launches_of_blocked + bytes / (faster * blocked_bytes_per_second)};
}

KernelCost cost_of_late_blocked(const GraphShape& shape, std::size_t value_bytes,
                                double memory_bandwidth) {
  KernelCost cost = cost_of_blocked(shape, value_bytes, memory_bandwidth);
  const auto nodes = static_cast<double>(shape.nodes), links = static_cast<double>(shape.links);
  const double values = shape.weighted ? static_cast<double>(value_bytes) * 0.005e-9 : 0;
  const double passes =
      nodes * 0.6e-9 + links * (0.011e-9 + values) + links * shape.runs_per_link * 0.097e-9;
  cost.prepare = 3.0e-3 + slower_memory(memory_bandwidth) * passes;
  return cost;
}

KernelCost cost_of_held_blocked(const GraphShape& shape, std::size_t value_bytes,
                                double memory_bandwidth) {
  KernelCost cost = cost_of_blocked(shape, value_bytes, memory_bandwidth);
  cost.prepare += held_takes_longer;
  return cost;
}

double expected_iterations(const GraphShape& shape, double alpha, double tolerance) {
  const double change = tolerance * (1 - alpha) / alpha;
  if (!(change < 1)) return 1;
  return 1 + std::min(1000.0, std::log(change) / std::log(alpha * shape.mixing));
}

double iterations_left(std::span<const double> changes, double target, double alpha) {
  const std::size_t count = changes.size();
  if (count < 2 || changes[count - 1] <= target) return 0;
  const double last = changes[count - 1];
  double ratio = last / changes[count - 2], believed = 1;
  if (count > 2 && count <= changes_that_bend) {
    const double before = changes[count - 2] / changes[count - 3], rise = ratio - before;
    if (count == 3) {
      // (What shrinks nearly as slowly as can be cannot rise so much.)
      const bool hardly_rises = ratio < std::min(least_rise * before, alpha / least_rise);
      believed = hardly_rises ? of_three_that_hardly_rise : of_three_changes;
      ratio += rise;
    } else {
      // If it levels off as it began to, all that is to come; no more than the last.
      const double levels = rise / (before - changes[count - 3] / changes[count - 4]);
      ratio += levels > 0 && levels < 0.5 ? rise * levels / (1 - levels) : rise;
    }
  }
  // (In exact arithmetic it shrinks by alpha at least.)
  constexpr double least_ratio = 0.05;
  return believed * std::log(target / last) /
         std::log(std::clamp(ratio, std::min(least_ratio, alpha), alpha));
}

KernelChoice choose_kernel(const MatrixSampler& matrix, Precision precision,
                           const ExpectedWork& work, const DeviceTraits& device) {
  const KernelChoice balanced{.kernel = "balanced"}, blocked{.kernel = "blocked"};
  if (matrix.link_count() < least_links_to_look_at) return balanced;
  const std::size_t value_bytes = precision == Precision::float64 ? sizeof(double) : sizeof(float);
  const double bandwidth = device.memory_bandwidth;
  // Iterations that pay for so many seconds more.
  const auto payback = [&](const GraphShape& shape, double seconds) {
    const double gained = cost_of_balanced(shape, value_bytes, bandwidth).iteration -
                          cost_of_blocked(shape, value_bytes, bandwidth).iteration;
    return gained > 0 ? seconds / gained : std::numeric_limits<double>::infinity();
  };
  // The same, for preparing `blocked` at once.
  const auto payback_at_once = [&](const GraphShape& shape) {
    return payback(shape, cost_of_blocked(shape, value_bytes, bandwidth).prepare -
                              cost_of_balanced(shape, value_bytes, bandwidth).prepare);
  };
  const auto iterations = [&](const GraphShape& shape) {
    return work.solves * std::min<double>(work.max_iterations,
                                          expected_iterations(shape, work.alpha, work.tolerance));
  };
  // Looking takes about as long as such a solve.
  const GraphShape best = most_for_blocked(matrix);
  if (iterations(best) <= payback_at_once(best)) return balanced;
  GraphShape shape = measure_shape(matrix, value_bytes, device.shared_memory);
  if (iterations(shape) > payback_at_once(shape)) return blocked;
  const bool early = matrix.link_count() >= least_links_to_prepare_early;
  const KernelCost plain = cost_of_balanced(shape, value_bytes, bandwidth),
                   late = early ? cost_of_held_blocked(shape, value_bytes, bandwidth)
                                : cost_of_late_blocked(shape, value_bytes, bandwidth);
  const double idle = early ? idle_when_held : idle_while_prepared;
  const double beside = std::max(1.0, std::floor(idle / plain.iteration));  // one runs in any case
  const double enough = payback(shape, late.prepare - beside * late.iteration);
  shape.mixing = 1;  // as slowly as can be
  if (iterations(shape) <= enough) return balanced;
  return {.kernel = "balanced",
          .payback = enough,
          .beside = static_cast<std::uint32_t>(beside),
          .early = early};
}

}  // namespace pagerank::gpu
