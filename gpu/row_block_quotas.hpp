#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/blocked_shape.hpp"

namespace pagerank::gpu {

/// The ordinary rows of a window.
struct WindowRows {
  std::uint32_t runs;     ///< Of them all.
  std::uint32_t longest;  ///< Of the one that has most.
};

/// Runs of ordinary rows that a row block takes before the next one begins, by the window that its
/// rows lie in, so that row blocks are full and the last wave of them too: a wave is as many as run
/// at once on so many multiprocessors. A row block takes rows until it has its quota, and what the
/// last of them brings above that fits in as well. `giant_runs` has the runs of each giant.
[[nodiscard]] std::vector<std::uint32_t> row_block_quotas(const BlockedShape& shape,
                                                          std::span<const WindowRows> windows,
                                                          std::span<const std::uint32_t> giant_runs,
                                                          std::uint32_t multiprocessors);

}  // namespace pagerank::gpu
