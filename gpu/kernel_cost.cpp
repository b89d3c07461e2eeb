#include "gpu/kernel_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pagerank::gpu {
namespace {

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
/// What `balanced` executes for each link and row, wherever they come from: graphs whose neighbours
/// are near wait for it. Fitted, with the rest as it is, to what small worlds in order gain by
/// `blocked` on an H200, whose clock is an H100's (by itself it is 1.7e-12 to 2.7e-12).
constexpr double seconds_of_step = 2.3e-12;
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
  const double rate = gather_rate(nodes * width) * std::pow(faster, share_of_memory(nodes * width));
  const double gather = links * shape.sectors_per_link / rate;
  const double bandwidth = faster * bytes_per_second;
  // Links and what they gather come side by side, but hinder each other where they take as long: a
  // fit, as good as the greater of both elsewhere (docs/performance.md, which kernel).
  const double of_links =
      std::max(std::hypot(links_bytes / bandwidth, gather), (links + nodes) * seconds_of_step);
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
  const double bytes = links * (2.4 + (shape.weighted ? width : 0)) +
                       runs * (1.7 + (1.15 + in_memory) * width) + nodes * 5.4 * width;
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
