#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace pagerank::gpu {

/// The matrix as spmv_blocked.cu multiplies it; see there for the whole picture. Nodes are
/// renumbered: `position` is a node's new number.
///
/// - A window is window_size neighbouring positions: a piece of x that fits into shared memory.
/// - A run is what one row links to in one window, cut where it is longer than a list may be. The
///   first pass makes one partial sum of each run.
/// - A row block is some neighbouring rows with at most `capacity` runs, whose partial sums fit
///   into shared memory. A row with too many for that (a giant) has row blocks of its own.
/// - A segment is the runs of one row block in one window: neighbours among the window's runs.
struct BlockedShape {
  std::uint32_t window_size;  ///< Ids are below it; window_size itself stands for 0.
  std::uint32_t local_bits;   ///< That hold an id.
  std::uint32_t capacity;     ///< Partial sums of a row block, with the one that is 0.
  std::uint32_t threads;      ///< Of a block of the second pass.
  std::uint32_t resident;     ///< Such blocks that a multiprocessor holds.

  /// A giant's piece that one warp adds up, in runs.
  static constexpr std::uint32_t most_runs_of_piece = 1024;

  /// The longest row, in runs, that is not a giant.
  [[nodiscard]] std::uint32_t most_runs_of_row() const { return capacity / 8; }

  /// Runs of a giant in each of its row blocks but the last: whole pieces.
  [[nodiscard]] std::uint32_t giant_runs_of_block() const {
    return (capacity - 1) / most_runs_of_piece * most_runs_of_piece;
  }
};

/// The first link of a run, of which the low 32 bits are known, in a window of less than 2^32 links
/// that begin with `window_begin`.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t first_link(std::uint32_t low_bits,
                                                                   std::uint64_t window_begin) {
  return window_begin + (low_bits - static_cast<std::uint32_t>(window_begin));
}

}  // namespace pagerank::gpu
