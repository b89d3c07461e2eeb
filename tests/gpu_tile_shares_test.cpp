// How the first pass of the blocked kernel is shared among multiprocessors: without a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gpu/tile_shares.hpp"

namespace pagerank::gpu {
namespace {

struct Tiles {
  std::vector<std::uint32_t> of_windows = {0};
  std::vector<std::uint64_t> work_before = {0};
};

/// Windows of very different size, some without tiles; tiles of different work.
Tiles random_tiles(unsigned seed, unsigned windows, unsigned most_tiles) {
  std::mt19937 random(seed);
  Tiles tiles;
  for (unsigned w = 0; w < windows; ++w) {
    const auto count =
        static_cast<unsigned>(random() % 3 == 0 ? 0 : 1 + random() % most_tiles / (1 + w));
    for (unsigned t = 0; t < count; ++t) {
      tiles.work_before.push_back(tiles.work_before.back() + 1000 + random() % 4000);
    }
    tiles.of_windows.push_back(tiles.of_windows.back() + count);
  }
  return tiles;
}

double work_of_block(const TileShares& shares, const Tiles& tiles, double window_work,
                     std::size_t block) {
  double work = 0;
  for (std::uint32_t p = shares.of_block[block]; p < shares.of_block[block + 1]; ++p) {
    work += window_work + static_cast<double>(tiles.work_before[shares.ends[p]] -
                                              tiles.work_before[shares.begins[p]]);
  }
  return work;
}

TEST_SUITE_BEGIN("gpu");

TEST_CASE("every tile is in one piece, and every piece in one window") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Tiles tiles = random_tiles(seed, 1 + seed * 7, 500);
    for (const std::uint32_t blocks : {1U, 2U, 7U, 132U, 1000U}) {
      const TileShares shares = share_tiles(tiles.of_windows, tiles.work_before, 50000, blocks);
      REQUIRE(shares.of_block.size() == blocks + 1);
      CHECK(shares.of_block.front() == 0);
      CHECK(shares.of_block.back() == shares.windows.size());
      CHECK(std::is_sorted(shares.of_block.begin(), shares.of_block.end()));
      std::uint32_t next = 0;
      for (std::size_t p = 0; p < shares.windows.size(); ++p) {
        CHECK(shares.begins[p] == next);
        CHECK(shares.begins[p] < shares.ends[p]);
        CHECK(tiles.of_windows[shares.windows[p]] <= shares.begins[p]);
        CHECK(shares.ends[p] <= tiles.of_windows[shares.windows[p] + 1]);
        next = shares.ends[p];
      }
      CHECK(next == tiles.of_windows.back());
    }
  }
}

TEST_CASE("no block has much more to do than the mean") {
  const double window_work = 100000;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Tiles tiles = random_tiles(seed, 75, 60000);
    constexpr std::uint32_t blocks = 132;
    const TileShares shares = share_tiles(tiles.of_windows, tiles.work_before, window_work, blocks);
    double most = 0, sum = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const double work = work_of_block(shares, tiles, window_work, b);
      most = std::max(most, work);
      sum += work;
    }
    CAPTURE(seed);
    CHECK(most < 1.1 * sum / blocks);
  }
}

TEST_CASE("cuts stand before tiles of their window, so many apart, and behind the last") {
  const std::vector<std::uint32_t> windows = {0, 0, 5, 5, 6, 13};
  const TileCuts cuts = cut_windows(windows, 3);
  CHECK(cuts.tiles == std::vector<std::uint32_t>{0, 3, 5, 6, 9, 12, 13});
  CHECK(cuts.of_window == std::vector<std::uint32_t>{0, 0, 2, 2, 3, 6});
  const TileCuts all = cut_windows(windows, 1);
  CHECK(all.tiles.size() == 14);
  CHECK(all.of_window == windows);
  CHECK(cut_windows(std::vector<std::uint32_t>{0, 0}, 7).tiles == std::vector<std::uint32_t>{0});
}

TEST_CASE("shares by a sample of the places to cut are whole, and hardly less even") {
  const double window_work = 100000;
  constexpr std::uint32_t blocks = 132;
  const Tiles tiles = random_tiles(6, 75, 60000);
  const std::uint32_t all = tiles.of_windows.back();
  const TileCuts cuts = cut_windows(tiles.of_windows, all / (512 * blocks) + 2);
  std::vector<std::uint64_t> work;
  for (const std::uint32_t tile : cuts.tiles) work.push_back(tiles.work_before[tile]);
  TileShares shares = share_tiles(cuts.of_window, work, window_work, blocks);
  for (std::uint32_t& cut : shares.begins) cut = cuts.tiles[cut];
  for (std::uint32_t& cut : shares.ends) cut = cuts.tiles[cut];
  std::uint32_t next = 0;
  for (std::size_t p = 0; p < shares.windows.size(); ++p) {
    CHECK(shares.begins[p] == next);
    CHECK(tiles.of_windows[shares.windows[p]] <= shares.begins[p]);
    CHECK(shares.ends[p] <= tiles.of_windows[shares.windows[p] + 1]);
    next = shares.ends[p];
  }
  CHECK(next == all);
  double most = 0, sum = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const double of_block = work_of_block(shares, tiles, window_work, b);
    most = std::max(most, of_block);
    sum += of_block;
  }
  CHECK(most < 1.1 * sum / blocks);
}

TEST_CASE("a graph with fewer tiles than blocks leaves blocks without work") {
  const std::vector<std::uint32_t> windows = {0, 0, 2, 2, 3};
  const std::vector<std::uint64_t> work = {0, 10, 20, 30};
  const TileShares shares = share_tiles(windows, work, 1, 8);
  CHECK(shares.windows == std::vector<std::uint32_t>{1, 1, 3});
  CHECK(shares.of_block.size() == 9);
}

TEST_SUITE_END();

}  // namespace
}  // namespace pagerank::gpu
