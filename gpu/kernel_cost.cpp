#include "gpu/kernel_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pagerank::gpu {
namespace {

/// Sectors a second that all multiprocessors gather from x of so many bytes: linear between these,
/// in the logarithm. The first is measured (docs/kernels.md), the last two are 0.8 and 0.62 of that
/// at 2^26, and the others are fitted, see below.
double gather_rate(double bytes) {
  constexpr std::array<std::pair<double, double>, 7> rates = {{{0x1p17, 650e9},
                                                               {0x1p19, 130e9},
                                                               {0x1p24, 130e9},
                                                               {0x1p25, 100e9},
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

/// Of sectors of x that come from four times as much as L2 holds memory's bandwidth is all. Of
/// those that L2 holds a quarter: an H200 gathers them somewhat faster than an H100, for whatever
/// reason.
double share_of_memory(double bytes) {
  return std::clamp(std::log2(bytes / 0x1p24) / 2, 0.25, 1.0);
}

/// These and the factors of bytes that cost_of_blocked() counts are fitted, with the rates above,
/// to the iterations of generated graphs on an H100 and an H200, all at once (docs/notebook/gpu.md,
/// the model fitted again).
constexpr double launches_of_balanced = 14e-6, launches_of_blocked = 16.4e-6;
constexpr double bytes_per_second = 2.55e12;  // of what `balanced` moves
/// What `balanced` executes for each link and row, wherever they come from: graphs whose neighbours
/// are near wait for it.
double seconds_of_link(double width) {
  return width > sizeof(float) ? 3.8e-12 : 2.1e-12;
}
constexpr double seconds_of_row = 3.8e-12;
constexpr double blocked_bytes_per_second = 2.57e12;
/// Of a link in double, in bytes: its window's elements take shared memory twice as long.
double blocked_bytes_of_double(double width) {
  return width > sizeof(float) ? 3.15 : 0;
}
/// The first pass waits for memory, the second for L2: an estimate, and not fitted.
constexpr double blocked_share_of_memory = 0.5;

/// What is prepared passes through memory.
double slower_memory(double bandwidth) {
  return h100_memory_bandwidth / bandwidth;
}

/// What is left takes longer beside iterations, for each step waits for blocks of the other kernel.
constexpr double held_takes_longer = 0.65e-3;

}  // namespace

KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes,
                            double memory_bandwidth) {
  const double faster = memory_bandwidth / h100_memory_bandwidth;
  const auto nodes = static_cast<double>(shape.nodes), links = static_cast<double>(shape.links);
  const auto width = static_cast<double>(value_bytes);
  const double links_bytes = links * (4 + (shape.weighted ? width : 0));
  const double nodes_bytes = nodes * (3.2 * width + 1);
  const double x_bytes = nodes * (1 - shape.isolated) * width;  // nobody gathers the rest
  const double rate = gather_rate(x_bytes) * std::pow(faster, share_of_memory(x_bytes));
  const double gather = links * shape.sectors_per_link / rate;
  const double bandwidth = faster * bytes_per_second;
  const double steps = links * seconds_of_link(width) + nodes * seconds_of_row;
  const double moved = links_bytes / bandwidth;
  // They go on side by side, but hinder each other where they take as long: the root of the sum of
  // fourth powers.
  const double of_links = std::sqrt(std::hypot(moved * moved, gather * gather, steps * steps));
  return {.prepare = 0.1e-3,
          .iteration = launches_of_balanced + of_links + nodes_bytes / bandwidth};
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
  const double bytes =
      links * (1.95 + blocked_bytes_of_double(width) + (shape.weighted ? 0.86 * width : 0)) +
      runs * (1.15 + (1.15 + in_memory) * width) + nodes * 5.65 * width;
  const double sorted = links * (0.0135e-9 + (shape.weighted ? width * 0.005e-9 : 0));
  const double passes = nodes * 0.22e-9 + sorted + runs * 0.029e-9;
  return {.prepare = 1.8e-3 + slower_memory(memory_bandwidth) * passes,
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

}  // namespace pagerank::gpu
