#include "gpu/row_block_quotas.hpp"

#include <algorithm>

namespace pagerank::gpu {
namespace {

/// Row blocks of a window whose ordinary rows have so many runs; a window without any has one too.
std::uint32_t blocks_of_window(std::uint32_t runs, std::uint32_t quota) {
  return std::max(1U, (runs + quota - 1) / quota);
}

std::uint64_t blocks_of_windows(std::span<const std::uint32_t> window_runs, std::uint32_t quota) {
  std::uint64_t blocks = 0;
  for (const std::uint32_t runs : window_runs) blocks += blocks_of_window(runs, quota);
  return blocks;
}

/// Their own, and the blocks that they cut in two.
std::uint64_t blocks_for_giants(const BlockedShape& shape,
                                std::span<const std::uint32_t> giant_runs) {
  const std::uint32_t share = shape.giant_runs_of_block();
  std::uint64_t blocks = 0;
  for (const std::uint32_t runs : giant_runs) blocks += (runs + share - 1) / share + 1;
  return blocks;
}

/// The least quota, up to `most`, with which there are no more waves than with `most`.
std::uint32_t least_quota(std::span<const std::uint32_t> window_runs, std::uint64_t of_giants,
                          std::uint64_t blocks_of_wave, std::uint32_t most) {
  const auto blocks_with = [&](std::uint32_t quota) {
    return blocks_of_windows(window_runs, quota) + of_giants;
  };
  const std::uint64_t waves = (blocks_with(most) + blocks_of_wave - 1) / blocks_of_wave;
  std::uint32_t least = 1, quota = most;
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
                                            std::span<const std::uint32_t> window_runs,
                                            std::span<const std::uint32_t> giant_runs,
                                            std::uint32_t multiprocessors) {
  // A block takes rows until it has its quota: the last may bring it above.
  const std::uint32_t most = shape.capacity - 1 - shape.most_runs_of_row();
  const std::uint32_t quota = least_quota(window_runs, blocks_for_giants(shape, giant_runs),
                                          std::uint64_t{shape.resident} * multiprocessors, most);
  std::vector<std::uint32_t> quotas;
  for (const std::uint32_t runs : window_runs) {
    // One more than an equal share: all of a window's runs are less than its blocks' quotas.
    quotas.push_back(runs / blocks_of_window(runs, quota) + 1);
  }
  return quotas;
}

}  // namespace pagerank::gpu
