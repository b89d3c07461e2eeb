#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/blocked_shape.hpp"

namespace pagerank::gpu {

/// Runs of ordinary rows that a row block takes before the next one begins, by the window that its
/// rows lie in, so that row blocks are full and the last wave of them too: a wave is as many as run
/// at once on so many multiprocessors. A row block takes rows until it has its quota, and what the
/// last of them brings above that fits in as well. `window_runs` has the runs of each window's
/// ordinary rows, `giant_runs` those of each giant.
[[nodiscard]] std::vector<std::uint32_t> row_block_quotas(
    const BlockedShape& shape, std::span<const std::uint32_t> window_runs,
    std::span<const std::uint32_t> giant_runs, std::uint32_t multiprocessors);

}  // namespace pagerank::gpu
