#include "gpu/reader_memory.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "core/pagerank.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

using gpu::EntryRoom;
using gpu::EntryTextShape;
using gpu::MatrixShape;

constexpr std::size_t parser_bytes = 1000;

EntryTextShape text_of(std::uint64_t entries, bool are_there) {
  return {.format = {},
          .symmetric = false,
          .declared_entries = entries,
          .expected_entries = entries,
          .entries_are_there = are_there};
}

std::size_t bytes_to_read(std::uint64_t entries, const MatrixShape& matrix) {
  return parser_bytes + gpu::bytes_to_build(entries, matrix);
}

EntryRoom room(const EntryTextShape& text, const MatrixShape& matrix, std::size_t available) {
  return gpu::room_for_entries(text, matrix, parser_bytes, available, "a GPU");
}

}  // namespace

TEST_CASE(
    "what building a matrix takes holds its arrays, and the links twice while they are sorted") {
  constexpr std::uint64_t entries = 1'000'000, nodes = 50'000;
  for (const bool symmetric : {false, true}) {
    for (const bool weighted : {false, true}) {
      const std::size_t bytes =
          gpu::bytes_to_build(entries, {nodes, weighted, symmetric, SourceIndex::row});
      const std::uint64_t links = entries * (symmetric ? 2 : 1);
      const std::size_t key = weighted ? 16 : 8, stored = weighted ? 12 : 4;
      CHECK(bytes >= links * (2 * key + stored) + nodes * 16);
    }
  }
}

TEST_CASE("entries that are there have room to the byte, or are refused with both numbers") {
  const MatrixShape matrix{.nodes = 1000, .weighted = true, .symmetric = true};
  const EntryTextShape text = text_of(123'456, true);
  const std::size_t needed = bytes_to_read(123'456, matrix);
  const EntryRoom all = room(text, matrix, needed);
  CHECK(all.entries == 123'456);
  CHECK(all.needed == needed);
  const std::string message = "not enough memory on a GPU: about " + std::to_string(needed) +
                              " bytes needed, " + std::to_string(needed - 1) + " bytes available";
  CHECK_THROWS_WITH_AS((void)room(text, matrix, needed - 1), message.c_str(), OutOfMemory);
}

TEST_CASE("of entries that may not come there is room for as many as fit") {
  const MatrixShape matrix{.nodes = 1000};
  for (const std::uint64_t claimed :
       {std::uint64_t{2'000'000}, std::uint64_t{1} << 60, std::uint64_t{1} << 62,
        std::numeric_limits<std::uint64_t>::max()}) {
    CAPTURE(claimed);
    const std::size_t available = bytes_to_read(1'000'000, matrix);
    const EntryRoom some = room(text_of(claimed, false), matrix, available);
    CHECK(some.entries == 1'000'000);
    CHECK(some.needed > available);
    CHECK(some.available == available);
    CHECK(room(text_of(claimed, false), matrix, available - 1).entries == 999'999);
  }
  CHECK(room(text_of(5, false), matrix, bytes_to_read(5, matrix)).entries == 5);
  CHECK(room(text_of(5, false), matrix, bytes_to_read(0, matrix)).entries == 0);
  CHECK_THROWS_AS((void)room(text_of(5, false), matrix, bytes_to_read(0, matrix) - 1), OutOfMemory);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
