// How many runs the row blocks of the blocked kernel take: without a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "gpu/row_block_quotas.hpp"

namespace pagerank::gpu {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr BlockedShape shape{
    .window_size = 1000, .capacity = 18 * 1024, .threads = 384, .resident = 3};
constexpr std::uint32_t multiprocessors = 132;
constexpr std::uint64_t blocks_of_wave = std::uint64_t{shape.resident} * multiprocessors;

/// Runs of each row of each window: none in some windows, few or nearly as many as an ordinary row
/// may have in others.
std::vector<Numbers> random_rows(unsigned seed, unsigned windows) {
  std::mt19937 random(seed);
  std::vector<Numbers> rows(windows, Numbers(shape.window_size));
  for (Numbers& window : rows) {
    const auto most = static_cast<std::uint32_t>(
        random() % 4 == 0 ? 0 : random() % (shape.most_runs_of_row() + 1));
    for (std::uint32_t& runs : window) {
      runs = static_cast<std::uint32_t>(random() % (most + 1));
    }
  }
  return rows;
}

std::vector<WindowRows> measured(const std::vector<Numbers>& rows) {
  std::vector<WindowRows> windows;
  windows.reserve(rows.size());
  for (const Numbers& window : rows) {
    windows.push_back({.runs = std::accumulate(window.begin(), window.end(), 0U),
                       .longest = *std::max_element(window.begin(), window.end())});
  }
  return windows;
}

/// The runs of a window's blocks, row by row: a row is in the block that its first run falls into.
Numbers runs_of_blocks(const Numbers& rows, std::uint32_t quota) {
  Numbers blocks = {0};
  std::uint32_t before = 0, last = 0;
  for (const std::uint32_t runs : rows) {
    if (const std::uint32_t block = before / quota; block != last) {
      blocks.push_back(0);
      last = block;
    }
    blocks.back() += runs;
    before += runs;
  }
  return blocks;
}

/// Those with the largest quota, of windows with so many runs.
std::uint64_t fewest_waves(const std::vector<WindowRows>& windows, std::uint64_t of_giants) {
  double blocks = static_cast<double>(of_giants);
  for (const auto& [runs, longest] : windows) {
    const double largest = shape.capacity - 1 - longest;
    blocks += std::max(1.0, std::ceil(runs / largest));
  }
  return static_cast<std::uint64_t>(std::ceil(blocks / static_cast<double>(blocks_of_wave)));
}

TEST_SUITE_BEGIN("gpu");

TEST_CASE("row blocks fit into shared memory and into as few waves as can be") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const std::vector<Numbers> rows = random_rows(seed, 1 + seed * 5);
    const std::vector<WindowRows> windows = measured(rows);
    const Numbers quotas = row_block_quotas(shape, windows, {}, multiprocessors);
    REQUIRE(quotas.size() == rows.size());
    std::uint64_t count = 0;
    for (std::size_t w = 0; w < rows.size(); ++w) {
      REQUIRE(quotas[w] > 0);
      const Numbers blocks = runs_of_blocks(rows[w], quotas[w]);
      CHECK(*std::max_element(blocks.begin(), blocks.end()) < shape.capacity);
      count += blocks.size();
    }
    CHECK(count <= fewest_waves(windows, 0) * blocks_of_wave);
  }
}

TEST_CASE("the last wave of row blocks is nearly full") {
  for (const std::uint32_t runs : {20'000'000U, 60'000'000U, 130'000'000U}) {
    CAPTURE(runs);
    const std::vector<WindowRows> windows(8, {.runs = runs / 8, .longest = 100});
    const Numbers quotas = row_block_quotas(shape, windows, {}, multiprocessors);
    std::uint64_t count = 0;
    for (const std::uint32_t quota : quotas) count += (runs / 8 + quota - 1) / quota;
    const std::uint64_t room = fewest_waves(windows, 0) * blocks_of_wave;
    CHECK(count <= room);
    CHECK(count + windows.size() > room);  // a block more of each window would be too many
  }
}

TEST_CASE("row blocks of giants, and those that they cut in two, count among the waves") {
  // 17 pieces of 1024 runs fit beside the partial sum that is 0.
  REQUIRE(shape.giant_runs_of_block() == 17 * 1024);
  const Numbers giants = {17 * 1024, 17 * 1024 + 1, 100'000};
  const std::uint64_t of_giants = (1 + 1) + (2 + 1) + (6 + 1);
  const std::vector<WindowRows> windows = {{.runs = 5'000'000, .longest = 2000}};
  const std::uint32_t quota = row_block_quotas(shape, windows, giants, multiprocessors)[0];
  const std::uint64_t count = (windows[0].runs + quota - 1) / quota;
  CHECK(count + of_giants == blocks_of_wave);
}

TEST_CASE("windows without runs get a quota, and a row block each") {
  const std::vector<WindowRows> windows(3, {.runs = 0, .longest = 0});
  CHECK(row_block_quotas(shape, windows, {}, multiprocessors) == Numbers{1, 1, 1});
}

TEST_SUITE_END();

}  // namespace
}  // namespace pagerank::gpu
