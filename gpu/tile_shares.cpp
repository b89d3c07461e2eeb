#include "gpu/tile_shares.hpp"

#include <algorithm>

namespace pagerank::gpu {
namespace {

struct Work {
  std::span<const std::uint32_t> window_tiles;
  std::span<const std::uint64_t> before;
  double of_window;
  std::uint32_t blocks;
};

/// Shares tiles among blocks that take up to `share` of work each: calls piece(window, begin, end)
/// for each piece and block() after those of a block. Whether they take all tiles.
template <class Piece, class Block>
bool share_up_to(double share, const Work& work, Piece piece, Block block) {
  // A piece for less than that is hardly worth its window.
  const double least_room = work.of_window / 5;
  const std::uint64_t* const before = work.before.data();
  const std::uint32_t tiles = work.window_tiles.back();
  std::uint32_t window = 0, tile = 0;
  for (std::uint32_t b = 0; b < work.blocks; ++b) {
    for (double room = share - work.of_window; room > least_room && tile < tiles;
         room -= work.of_window) {
      while (tile == work.window_tiles[window + 1]) ++window;
      const auto most = before[tile] + static_cast<std::uint64_t>(room);
      const auto* const beyond =
          std::upper_bound(before + tile, before + work.window_tiles[window + 1] + 1, most);
      const auto end = std::max(tile + 1, static_cast<std::uint32_t>(beyond - before - 1));
      piece(window, tile, end);
      room -= static_cast<double>(before[end] - before[tile]);
      tile = end;
    }
    block();
  }
  return tile == tiles;
}

/// The least share that suffices, nearly. It is looked for from what it would be if all blocks had
/// the same to do, which is mostly not far off.
double least_share(const Work& work) {
  const auto suffices = [&](double share) {
    return share_up_to(
        share, work, [](std::uint32_t, std::uint32_t, std::uint32_t) {}, [] {});
  };
  const auto all = static_cast<double>(work.before.back());
  const double pieces = static_cast<double>(work.window_tiles.size() - 1) + work.blocks;
  double too_little = all / work.blocks;
  double enough = (all + pieces * work.of_window) / work.blocks + 1;
  for (double more = 0.01; !suffices(enough); more *= 2) {
    too_little = enough;
    enough *= 1 + more;
  }
  while (enough - too_little > 0.001 * enough) {
    const double share = (too_little + enough) / 2;
    (suffices(share) ? enough : too_little) = share;
  }
  return enough;
}

}  // namespace

TileCuts cut_windows(std::span<const std::uint32_t> window_tiles, std::uint64_t apart) {
  TileCuts cuts;
  for (std::size_t w = 0; w + 1 < window_tiles.size(); ++w) {
    cuts.of_window.push_back(static_cast<std::uint32_t>(cuts.tiles.size()));
    for (std::uint64_t tile = window_tiles[w]; tile < window_tiles[w + 1]; tile += apart) {
      cuts.tiles.push_back(static_cast<std::uint32_t>(tile));
    }
  }
  cuts.of_window.push_back(static_cast<std::uint32_t>(cuts.tiles.size()));
  cuts.tiles.push_back(window_tiles.back());
  return cuts;
}

TileShares share_tiles(std::span<const std::uint32_t> window_tiles,
                       std::span<const std::uint64_t> work_before, double window_work,
                       std::uint32_t blocks) {
  const Work work{window_tiles, work_before, window_work, blocks};
  TileShares shares;
  share_up_to(
      least_share(work), work,
      [&](std::uint32_t window, std::uint32_t begin, std::uint32_t end) {
        shares.windows.push_back(window);
        shares.begins.push_back(begin);
        shares.ends.push_back(end);
      },
      [&] { shares.of_block.push_back(static_cast<std::uint32_t>(shares.windows.size())); });
  return shares;
}

}  // namespace pagerank::gpu
