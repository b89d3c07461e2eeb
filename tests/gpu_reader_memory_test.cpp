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
using gpu::LabelRange;
using gpu::MatrixShape;
using Weights = gpu::EntryFormat::Weights;

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

/// Without a header: a guess, or 0, no idea.
EntryTextShape list_of(std::uint64_t entries, bool weighted) {
  return {.format = {.weights = weighted ? Weights::real : Weights::none, .labelled = true},
          .expected_entries = entries};
}

EntryRoom room(const EntryTextShape& text, const MatrixShape& matrix, std::size_t available) {
  constexpr gpu::ParserMemory parser{.bytes = parser_bytes, .entries_in_flight = 5000};
  return gpu::room_for_entries(text, matrix, parser, available, "a GPU");
}

std::string refusal(std::size_t needed, std::size_t available) {
  return "not enough memory on a GPU: about " + std::to_string(needed) + " bytes needed, " +
         std::to_string(available) + " bytes available";
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
  CHECK_THROWS_WITH_AS((void)room(text, matrix, needed - 1), refusal(needed, needed - 1).c_str(),
                       OutOfMemory);
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

TEST_CASE("an entry between labels takes both, and one between numbered nodes half of that") {
  CHECK(gpu::bytes_of_entry({}) == 8);
  CHECK(gpu::bytes_of_entry({.weights = Weights::whole}) == 16);
  CHECK(gpu::bytes_of_entry({.labelled = true}) == 16);
  CHECK(gpu::bytes_of_entry({.weights = Weights::real, .labelled = true}) == 24);
  CHECK(gpu::bytes_of_numbered_entry(false) == 8);
  CHECK(gpu::bytes_of_numbered_entry(true) == 16);
}

TEST_CASE("labels lie close together by the rule of the host, and numbering them takes less then") {
  constexpr std::uint64_t always = 1 << 23, highest = std::numeric_limits<std::uint64_t>::max();
  CHECK(LabelRange{0, always + 15}.is_close(1));
  CHECK_FALSE(LabelRange{0, always + 16}.is_close(1));
  CHECK(LabelRange{highest - always - 15, highest}.is_close(1));
  CHECK_FALSE(LabelRange{0, highest}.is_close(1'000'000));
  CHECK(LabelRange{5, 68}.words() == 1);
  CHECK(LabelRange{5, 69}.words() == 2);

  constexpr std::uint64_t entries = 10'000'000, values = 2'000'000;
  const std::size_t close = gpu::bytes_to_number(entries, {1, values});
  const std::size_t spread = gpu::bytes_to_number(entries, {0, highest});
  CHECK(close >= entries * 8 + values * 8 + values / 64 * 16);
  CHECK(spread >= entries * 2 * 16);
  CHECK(close < spread);
}

TEST_CASE("links of an edge list have the room that is guessed and some more, or what there is") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const MatrixShape matrix{.nodes = 0, .weighted = weighted};
    const EntryTextShape list = list_of(1'000'000, weighted);
    const EntryRoom all = room(list, matrix, std::size_t{1} << 40);
    CHECK(all.entries == 1'000'000 + 1'000'000 / 64 + 5000);
    const std::size_t entry = weighted ? 24 : 16;
    CHECK(all.needed >=
          parser_bytes + all.entries * entry + gpu::bytes_to_number(all.entries, LabelRange()));
    CHECK(all.needed >= bytes_to_read(all.entries, matrix));
    CHECK(room(list, matrix, all.needed).entries == all.entries);
    const EntryRoom some = room(list, matrix, all.needed - 1);
    CHECK(some.entries < all.entries);
    CHECK(some.entries > all.entries - 10);
    CHECK(some.needed == all.needed);
    CHECK_THROWS_AS((void)room(list, matrix, 1000), OutOfMemory);

    CHECK(room(list_of(100, weighted), matrix, all.needed).entries == 101 + 4 * 101);
    const EntryRoom none = room(list_of(0, weighted), matrix, all.needed);
    CHECK(none.entries == 0);
    CHECK(none.needed > parser_bytes);
  }
}

TEST_CASE("room for labels doubles, as long as the old room fits beside the new one") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const EntryTextShape list = list_of(0, weighted);
    const std::size_t entry = weighted ? 24 : 16;
    const EntryRoom old{.entries = 1000};
    const std::size_t held = parser_bytes + 1000 * entry;
    const auto larger = [&](std::uint64_t entries, std::size_t available) {
      return gpu::larger_room(old, entries, list.format, held, available, "a GPU");
    };
    const EntryRoom twice = larger(1001, 1 << 20);
    CHECK(twice.entries == 2000);
    CHECK(twice.needed == held + 2000 * entry);
    CHECK(larger(5000, 1 << 20).entries == 5000);
    CHECK(larger(1001, held + 1500 * entry).entries == 1500);
    const std::size_t needed = held + 1001 * entry;
    CHECK(larger(1001, needed).entries == 1001);
    CHECK_THROWS_WITH_AS((void)larger(1001, needed - 1), refusal(needed, needed - 1).c_str(),
                         OutOfMemory);
    CHECK_THROWS_AS((void)larger(1001, 0), OutOfMemory);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
