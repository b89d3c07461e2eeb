#include "gpu/kernel_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/parallel.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::size_t sector_bytes = 32;
constexpr std::size_t window_bytes = std::size_t{224} << 10;  // of `blocked`

/// Smaller graphs are done before their shape is known.
constexpr EdgeIndex least_links = EdgeIndex{1} << 20;

std::size_t distinct(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  return static_cast<std::size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

double sample_sectors(const CsrMatrix& links, std::size_t value_bytes) {
  constexpr std::size_t stretches = 16, length = 4096;
  const std::span<const NodeId> columns(links.column_indices);
  std::array<std::size_t, stretches> sectors{}, seen{};
  parallel_for(stretches, thread_count(0), [&](std::size_t s) {
    const std::size_t begin = columns.size() / stretches * s;
    std::vector<std::uint64_t> touched;
    for (const NodeId column : columns.subspan(begin, std::min(length, columns.size() - begin))) {
      touched.push_back(column * value_bytes / sector_bytes);
    }
    seen[s] = touched.size();
    sectors[s] = distinct(touched);
  });
  return static_cast<double>(std::accumulate(sectors.begin(), sectors.end(), std::size_t{0})) /
         static_cast<double>(std::accumulate(seen.begin(), seen.end(), std::size_t{0}));
}

/// About where nodes stand when ordered by falling out-weight, from a sample of them.
class WeightOrder {
 public:
  explicit WeightOrder(const TransitionMatrix& matrix) : matrix_(matrix) {
    constexpr std::size_t most = 1 << 12;
    const std::size_t nodes = matrix.node_count(), stride = (nodes + most - 1) / most;
    for (std::size_t node = 0; node < nodes; node += stride) {
      sample_.push_back(key(matrix.inverse_out_weight[node]));
    }
    std::sort(sample_.begin(), sample_.end());
  }
  /// In [0, 1).
  [[nodiscard]] double place(NodeId node) const {
    const auto [begin, end] =
        std::equal_range(sample_.begin(), sample_.end(), key(matrix_.inverse_out_weight[node]));
    const double among_equals = static_cast<double>(node) / matrix_.node_count();
    return (static_cast<double>(begin - sample_.begin()) +
            static_cast<double>(end - begin) * among_equals) /
           static_cast<double>(sample_.size());
  }

 private:
  static double key(double inverse) { return inverse > 0 ? inverse : HUGE_VAL; }
  const TransitionMatrix& matrix_;
  std::vector<double> sample_;
};

struct Runs {
  double as_numbered, by_weight;  ///< Per link.
};
Runs sample_runs(const TransitionMatrix& matrix, std::size_t value_bytes) {
  constexpr std::size_t rows = 256, most_columns = 1024;
  const CsrMatrix& links = matrix.in_links;
  const std::size_t window_size = window_bytes / value_bytes;
  const double windows =
      static_cast<double>(matrix.node_count()) / static_cast<double>(window_size);
  const WeightOrder order(matrix);
  std::array<Runs, rows> of_row{};
  parallel_for(rows, thread_count(0), [&](std::size_t r) {
    const EdgeIndex link = matrix.link_count() / rows * r;  // so that each link counts alike
    const auto end = std::upper_bound(links.row_offsets.begin(), links.row_offsets.end(), link);
    const std::span<const NodeId> columns =
        std::span(links.column_indices).subspan(*(end - 1), *end - *(end - 1));
    // Of long rows a part is enough to see nearly all windows.
    const std::size_t stride = (columns.size() + most_columns - 1) / most_columns;
    std::vector<std::uint64_t> numbered, weighed;
    for (std::size_t k = 0; k < columns.size(); k += stride) {
      numbered.push_back(columns[k] / window_size);
      weighed.push_back(static_cast<std::uint64_t>(order.place(columns[k]) * windows));
    }
    const auto length = static_cast<double>(columns.size());
    of_row[r] = {static_cast<double>(distinct(numbered)) / length,
                 static_cast<double>(distinct(weighed)) / length};
  });
  Runs runs{0, 0};
  for (const Runs& row : of_row) {
    runs.as_numbered += row.as_numbered / rows;
    runs.by_weight += row.by_weight / rows;
  }
  return runs;
}

double sample_isolated(const TransitionMatrix& matrix) {
  constexpr std::size_t most = 1 << 14;
  const std::size_t nodes = matrix.node_count(), stride = (nodes + most - 1) / most;
  std::size_t seen = 0, isolated = 0;
  for (std::size_t node = 0; node < nodes; node += stride, ++seen) {
    const std::span offsets(matrix.in_links.row_offsets);
    if (offsets[node] == offsets[node + 1] && matrix.inverse_out_weight[node] == 0) ++isolated;
  }
  return static_cast<double>(isolated) / static_cast<double>(seen);
}

/// A random walk forgets where it came from the faster, the more ways lead on; and slowly if it
/// stays near.
double estimate_mixing(const TransitionMatrix& matrix, double runs_as_numbered) {
  constexpr EdgeIndex samples = 4096;
  double sum = 0;
  for (EdgeIndex s = 0; s < samples; ++s) {
    const EdgeIndex link = matrix.link_count() / samples * s;
    sum += std::min(1.0, matrix.inverse_out_weight[matrix.in_links.column_indices[link]]);
  }
  return std::clamp(std::max(std::sqrt(sum / samples), 0.8 * (1 - runs_as_numbered)), 0.1, 1.0);
}

/// Sectors a second that all multiprocessors gather from x of so many bytes (docs/kernels.md; at
/// 2^24 fitted to whole iterations): linear between these, in the logarithm.
double gather_rate(double bytes) {
  constexpr std::array<std::pair<double, double>, 7> rates = {{{0x1p17, 650e9},
                                                               {0x1p19, 150e9},
                                                               {0x1p24, 118e9},
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

constexpr double bytes_per_second = 2.6e12;  // of what `balanced` moves
constexpr double blocked_bytes_per_second = 2.75e12;
constexpr double launches = 8e-6;

}  // namespace

GraphShape measure_shape(const TransitionMatrix& matrix, std::size_t value_bytes) {
  GraphShape shape{
      .nodes = matrix.node_count(), .links = matrix.link_count(), .weighted = matrix.weighted()};
  if (shape.links == 0) return shape;
  shape.sectors_per_link = sample_sectors(matrix.in_links, value_bytes);
  const Runs runs = sample_runs(matrix, value_bytes);
  // The rule of node_order.cu.
  shape.runs_per_link = runs.by_weight < 0.8 * runs.as_numbered ? runs.by_weight : runs.as_numbered;
  shape.isolated = sample_isolated(matrix);
  shape.mixing = estimate_mixing(matrix, runs.as_numbered);
  return shape;
}

KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes) {
  const auto nodes = static_cast<double>(shape.nodes), links = static_cast<double>(shape.links);
  const auto width = static_cast<double>(value_bytes);
  const double bytes = links * (4 + (shape.weighted ? width : 0)) + nodes * (6 * width + 2);
  const double gather = links * shape.sectors_per_link / gather_rate(nodes * width);
  return {.prepare = 0.1e-3, .iteration = launches + std::max(bytes / bytes_per_second, gather)};
}

KernelCost cost_of_blocked(const GraphShape& shape, std::size_t value_bytes) {
  const auto nodes = static_cast<double>(shape.nodes) * (1 - shape.isolated);
  const auto links = static_cast<double>(shape.links);
  const auto width = static_cast<double>(value_bytes);
  const double runs = links * shape.runs_per_link;
  const double bytes =
      links * (2.1 + (shape.weighted ? width : 0)) + runs * (2.1 + 2.4 * width) + nodes * 6 * width;
  return {.prepare = 1e-3 + links * 0.077e-9 + runs * 0.038e-9,
          .iteration = launches + bytes / blocked_bytes_per_second};
}

double expected_iterations(const GraphShape& shape, double alpha, double tolerance) {
  const double change = tolerance * (1 - alpha) / alpha;
  if (!(change < 1)) return 1;
  return 1 + std::min(1000.0, std::log(change) / std::log(alpha * shape.mixing));
}

std::string_view choose_kernel(const TransitionMatrix& matrix, Precision precision,
                               const ExpectedWork& work) {
  if (matrix.link_count() < least_links) return "balanced";
  const std::size_t value_bytes = precision == Precision::float64 ? sizeof(double) : sizeof(float);
  const GraphShape shape = measure_shape(matrix, value_bytes);
  const double iterations =
      expected_iterations(shape, work.alpha, work.tolerance) * static_cast<double>(work.solves);
  const auto total = [&](const KernelCost& cost) {
    return cost.prepare + iterations * cost.iteration;
  };
  return total(cost_of_blocked(shape, value_bytes)) < total(cost_of_balanced(shape, value_bytes))
             ? "blocked"
             : "balanced";
}

}  // namespace pagerank::gpu
