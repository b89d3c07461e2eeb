#include "gpu/row_block_quotas.hpp"

#include <algorithm>

namespace pagerank::gpu {
namespace {

/// The largest quota of the window: a block takes rows until it has its quota, and the last may
/// bring it above.
std::uint32_t largest_quota(const BlockedShape& shape, const WindowRows& rows) {
  return shape.capacity - 1 - rows.longest;
}

/// Row blocks of a window with that quota, or the largest if that is less; a window without runs
/// has one too.
std::uint32_t blocks_of_window(const BlockedShape& shape, const WindowRows& rows,
                               std::uint32_t quota) {
  const std::uint32_t share = std::min(quota, largest_quota(shape, rows));
  return std::max(1U, (rows.runs + share - 1) / share);
}

/// Their own, and the blocks that they cut in two.
std::uint64_t blocks_for_giants(const BlockedShape& shape,
                                std::span<const std::uint32_t> giant_runs) {
  const std::uint32_t share = shape.giant_runs_of_block();
  std::uint64_t blocks = 0;
  for (const std::uint32_t runs : giant_runs) blocks += (runs + share - 1) / share + 1;
  return blocks;
}

/// The least quota with which there are no more waves than with the largest.
std::uint32_t least_quota(const BlockedShape& shape, std::span<const WindowRows> windows,
                          std::uint64_t of_giants, std::uint64_t blocks_of_wave) {
  const auto blocks_with = [&](std::uint32_t quota) {
    std::uint64_t blocks = of_giants;
    for (const WindowRows& rows : windows) blocks += blocks_of_window(shape, rows, quota);
    return blocks;
  };
  std::uint32_t least = 1, quota = shape.capacity;
  const std::uint64_t waves = (blocks_with(quota) + blocks_of_wave - 1) / blocks_of_wave;
  while (least < quota) {
    const std::uint32_t middle = least + (quota - least) / 2;
    if (blocks_with(middle) <= waves * blocks_of_wave) {
      quota = middle;
    } else {
      least = middle + 1;
    }
  }
  return quota;
}

}  // namespace

std::vector<std::uint32_t> row_block_quotas(const BlockedShape& shape,
                                            std::span<const WindowRows> windows,
                                            std::span<const std::uint32_t> giant_runs,
                                            std::uint32_t multiprocessors) {
  const std::uint32_t quota = least_quota(shape, windows, blocks_for_giants(shape, giant_runs),
                                          std::uint64_t{shape.resident} * multiprocessors);
  std::vector<std::uint32_t> quotas;
  for (const WindowRows& rows : windows) {
    // One more than an equal share: all of a window's runs are less than its blocks' quotas.
    quotas.push_back(rows.runs / blocks_of_window(shape, rows, quota) + 1);
  }
  return quotas;
}

}  // namespace pagerank::gpu
