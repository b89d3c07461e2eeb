// The numbers that the blocked layout is made with: without a GPU.
#include <doctest/doctest.h>

#include <initializer_list>

#include "gpu/blocked_shape.hpp"
#include "gpu/row_block_quotas.hpp"

namespace pagerank::gpu {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("a run's first link is known from its low 32 bits and its window's first") {
  constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
  for (const std::uint64_t window :
       {std::uint64_t{0}, wrap - 5, wrap, 3 * wrap + 7, 9 * wrap - 1}) {
    for (const std::uint64_t links_before : {std::uint64_t{0}, std::uint64_t{4}, wrap - 1}) {
      const std::uint64_t link = window + links_before;
      CHECK(first_link(static_cast<std::uint32_t>(link), window) == link);
    }
  }
}

TEST_CASE(
    "windows and row blocks are as large as shared memory has room for, ids of 16 bits reach") {
  struct Gpu {
    const char* name;
    SharedMemory memory;
    std::uint32_t window, row_block;  // KiB
  };
  constexpr std::size_t kib = 1 << 10;
  const Gpu gpus[] = {{"H100", {227 * kib, 228 * kib, kib, 2048}, 224, 112},
                      {"A100", {163 * kib, 164 * kib, kib, 2048}, 160, 80},
                      {"RTX 4090", {99 * kib, 100 * kib, kib, 1536}, 96, 48},
                      {"T4", {64 * kib, 64 * kib, 0, 1024}, 60, 32},
                      {"the least there is", {48 * kib, 48 * kib, 0, 512}, 44, 48},
                      {"one to come", {400 * kib, 400 * kib, kib, 4096}, 224, 112}};
  for (const Gpu& gpu : gpus) {
    CAPTURE(gpu.name);
    for (const std::uint32_t value_bytes : {4U, 8U}) {
      CAPTURE(value_bytes);
      const BlockedShape shape = blocked_shape(value_bytes, gpu.memory);
      CHECK(shape.window_size * value_bytes == gpu.window * kib);
      CHECK(shape.capacity * value_bytes == gpu.row_block * kib);
      CHECK((shape.window_size + 1) * value_bytes <= gpu.memory.most_of_block);
      CHECK(shape.resident * (shape.capacity * value_bytes + gpu.memory.taken_of_block) <=
            gpu.memory.of_multiprocessor);
      CHECK(shape.resident * shape.threads <= gpu.memory.threads);
      CHECK(shape.window_size < std::uint32_t{1} << 16);
      CHECK(shape.capacity <= std::uint32_t{1} << 16);
      CHECK(shape.giant_runs_of_block() > 0);
    }
  }
}

TEST_CASE("row blocks can be cut, giants' too, by every shape that has room for a giant's piece") {
  constexpr SharedMemory h100;
  for (const std::uint32_t value_bytes : {4U, 8U}) {
    CAPTURE(value_bytes);
    for (std::size_t bytes = 1 << 9; bytes <= h100.most_of_block; bytes += 1 << 9) {
      CAPTURE(bytes);
      const BlockedShape shape = blocked_shape(value_bytes, h100.within(bytes));
      // Two blocks of a piece and a 0, which is 8 KiB of floats and 12 of doubles in whole 4 KiB,
      // and 1 KiB each of the system's, which a block alone has once.
      const std::size_t least = value_bytes == 4 ? 2 * (8 + 1) - 1 : 2 * (12 + 1) - 1;
      REQUIRE(shape.has_room_for_piece() == (bytes >= least << 10));
      if (!shape.has_room_for_piece()) continue;
      REQUIRE(shape.window_size > 0);
      REQUIRE(shape.giant_runs_of_block() > 0);
      CHECK(shape.giant_runs_of_block() < shape.capacity);
      const WindowRows rows{.runs = 1'000'000, .longest = shape.most_runs_of_row()};
      const std::uint32_t giant = shape.most_runs_of_row() + 1;
      const std::uint32_t quota =
          row_block_quotas(shape, {&rows, 1}, {&giant, 1}, /*multiprocessors=*/132)[0];
      CHECK(quota > 0);
      CHECK(quota - 1 + rows.longest < shape.capacity);
    }
  }
}

TEST_CASE("shared memory may be taken to be less, not more") {
  constexpr SharedMemory h100;
  CHECK(h100.within(0).most_of_block == h100.most_of_block);
  CHECK(h100.within(1 << 20).most_of_block == h100.most_of_block);
  CHECK(blocked_shape(4, h100.within(99 << 10)).window_size ==
        blocked_shape(4, {99 << 10, 100 << 10, 1 << 10, 1536}).window_size);
  CHECK(blocked_shape(4, h100.within(99 << 10)).capacity ==
        blocked_shape(4, {99 << 10, 100 << 10, 1 << 10, 1536}).capacity);
}

TEST_SUITE_END();
}  // namespace pagerank::gpu
