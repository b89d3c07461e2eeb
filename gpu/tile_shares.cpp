#include "gpu/tile_shares.hpp"

#include <algorithm>

namespace pagerank::gpu {
namespace {

/// To blocks that take up to `share` of work each: less than all tiles where they do not suffice.
TileShares shares_up_to(std::span<const std::uint32_t> window_tiles,
                        std::span<const std::uint64_t> work_before, double window_work,
                        double share, std::uint32_t blocks) {
  // A piece for less than that is hardly worth its window.
  const double least_room = window_work / 5;
  TileShares shares;
  const std::uint32_t tiles = window_tiles.back();
  std::uint32_t window = 0, tile = 0;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (double room = share - window_work; room > least_room && tile < tiles;
         room -= window_work) {
      while (tile == window_tiles[window + 1]) ++window;
      const auto* const work = work_before.data();
      const auto most = work[tile] + static_cast<std::uint64_t>(room);
      const auto* const beyond =
          std::upper_bound(work + tile, work + window_tiles[window + 1] + 1, most);
      const auto end = std::max(tile + 1, static_cast<std::uint32_t>(beyond - work - 1));
      shares.windows.push_back(window);
      shares.begins.push_back(tile);
      shares.ends.push_back(end);
      room -= static_cast<double>(work[end] - work[tile]);
      tile = end;
    }
    shares.of_block.push_back(static_cast<std::uint32_t>(shares.windows.size()));
  }
  return shares;
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
  const auto shared_by = [&](double share) {
    return shares_up_to(window_tiles, work_before, window_work, share, blocks);
  };
  const auto all = static_cast<double>(work_before.back());
  double too_little = all / blocks;
  double enough = all + static_cast<double>(window_tiles.size() + 1) * 2 * window_work + 1;
  while (enough - too_little > 0.001 * enough) {
    const double share = (too_little + enough) / 2;
    const TileShares shares = shared_by(share);
    const std::uint32_t done = shares.ends.empty() ? 0 : shares.ends.back();
    (done == window_tiles.back() ? enough : too_little) = share;
  }
  return shared_by(enough);
}

}  // namespace pagerank::gpu
