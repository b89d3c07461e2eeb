#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "gpu/device_traits.hpp"

namespace pagerank::gpu {

/// The matrix as spmv_blocked.cu multiplies it; see there for the whole picture. Nodes are
/// renumbered: `position` is a node's new number.
///
/// - A window is window_size neighbouring positions: a piece of x that fits into shared memory.
/// - A run is what one row links to in one window, cut where a tile of links that are sorted
///   together ends and where it would be longer than a list may be (from half of that on). The
///   first pass makes one partial sum of each run.
/// - A row block is some neighbouring rows with at most `capacity` runs, whose partial sums fit
///   into shared memory. A row of more than an eighth of that (a giant) has row blocks of its own.
/// - A segment is the runs of one row block in one window: neighbours among the window's runs.
struct BlockedShape {
  std::uint32_t window_size;  ///< Ids are below it; window_size itself stands for 0.
  std::uint32_t capacity;     ///< Partial sums of a row block, with the one that is 0.
  std::uint32_t threads;      ///< Of a block of the second pass.
  std::uint32_t resident;     ///< Such blocks that a multiprocessor holds.

  /// A giant's piece that one warp adds up, in runs.
  static constexpr std::uint32_t most_runs_of_piece = 1024;

  /// The longest row, in runs, that is not a giant.
  [[nodiscard]] std::uint32_t most_runs_of_row() const { return capacity / 8; }

  /// Whether a row block holds a giant's piece (`most_runs_of_piece`): shapes that do not are
  /// refused.
  [[nodiscard]] constexpr bool has_room_for_piece() const { return capacity > most_runs_of_piece; }

  /// Runs of a giant in each of its row blocks but the last: whole pieces.
  [[nodiscard]] std::uint32_t giant_runs_of_block() const {
    return (capacity - 1) / most_runs_of_piece * most_runs_of_piece;
  }
};

/// Threads of a block of the first pass; a multiprocessor holds one.
inline constexpr unsigned gather_threads = 768;
/// Threads of a block of the second pass, and how many of them a multiprocessor is to hold: three
/// smaller ones have shorter segments, which costs a little on all graphs and most where there are
/// many windows.
inline constexpr unsigned combine_threads = 512, combine_blocks = 2;

/// The largest windows and row blocks, for elements of x of `value_bytes`, that shared memory has
/// room for; no larger than an H100's, which ids of 16 bits reach: windows of 224 KiB, two row
/// blocks of 112.
[[nodiscard]] constexpr BlockedShape blocked_shape(std::size_t value_bytes,
                                                   const SharedMemory& memory = {}) {
  constexpr std::size_t whole = 4 << 10, most_window = 224 << 10;
  const std::size_t zero = value_bytes;  // the element behind the window
  const std::size_t resident =
      std::clamp<std::size_t>(memory.threads / combine_threads, 1, combine_blocks);
  const std::size_t of_row_block =
      std::min(memory.most_of_block, memory.of_multiprocessor / resident - memory.taken_of_block);
  const auto values = [&](std::size_t bytes, std::size_t most) {
    return static_cast<std::uint32_t>(std::min(bytes / whole * whole, most) / value_bytes);
  };
  return {.window_size = values(memory.most_of_block - zero, most_window),
          .capacity = values(of_row_block, most_window / combine_blocks),
          .threads = combine_threads,
          .resident = static_cast<std::uint32_t>(resident)};
}

/// The first link of a run, of which the low 32 bits are known, in a window of less than 2^32 links
/// that begin with `window_begin`.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t first_link(std::uint32_t low_bits,
                                                                   std::uint64_t window_begin) {
  return window_begin + (low_bits - static_cast<std::uint32_t>(window_begin));
}

}  // namespace pagerank::gpu
