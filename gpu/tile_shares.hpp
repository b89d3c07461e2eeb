#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagerank::gpu {

/// Work of blocks that run at once, in pieces: some neighbouring tiles of one window each.
struct TileShares {
  std::vector<std::uint32_t> windows;         ///< Of each piece.
  std::vector<std::uint32_t> begins, ends;    ///< The tiles of each piece.
  std::vector<std::uint32_t> of_block = {0};  ///< Each block's first piece; blocks + 1.
};

/// Where tiles may be shared: `tiles[c]` is the tile that cut c stands before.
struct TileCuts {
  std::vector<std::uint32_t> tiles;
  std::vector<std::uint32_t> of_window;  ///< Each window's first cut, and at the end the last cut.
};

/// A cut at each `apart`-th tile of a window, the first one's, and behind the last window. Window w
/// has the tiles [window_tiles[w], window_tiles[w + 1]).
[[nodiscard]] TileCuts cut_windows(std::span<const std::uint32_t> window_tiles,
                                   std::uint64_t apart);

/// Shares the tiles of all windows among blocks, in their order, so that the most that one has to
/// do is as little as can be, nearly. Window w has the tiles [window_tiles[w], window_tiles[w +
/// 1]); work_before[t] is the work of all tiles before t, window_work what a piece costs besides,
/// both in the same unit.
[[nodiscard]] TileShares share_tiles(std::span<const std::uint32_t> window_tiles,
                                     std::span<const std::uint64_t> work_before, double window_work,
                                     std::uint32_t blocks);

}  // namespace pagerank::gpu
