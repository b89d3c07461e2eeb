// One line as the GPU reads it, on the host: what it accepts is what the host's reader accepts,
// with the same bits, and it accepts the lines that graphs are made of.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "gpu/entry_line.hpp"
#include "io/edge_list_lines.hpp"
#include "io/matrix_market_entries.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

using Weights = gpu::EntryFormat::Weights;
using Field = io::MatrixMarketHeader::Field;
using Random = std::mt19937_64;

std::optional<gpu::ParsedEntry> parse(std::string line, const gpu::EntryFormat& format) {
  line += '\n';
  line.append(64, '7');  // what is read behind the line must not matter
  gpu::ParsedEntry entry{};
  if (!gpu::parse_entry_line(line.data(), format, entry)) return std::nullopt;
  return entry;
}

std::optional<gpu::ParsedEntry> parse(const std::string& line, NodeId nodes, Weights weights) {
  return parse(line, {nodes, weights});
}

gpu::EntryFormat links_of(io::LinkColumns columns) {
  return {.weights = columns == io::LinkColumns::ids ? Weights::none : Weights::real,
          .labelled = true,
          .hash_comments = true,
          .timed = columns == io::LinkColumns::weights_and_times};
}

std::optional<gpu::ParsedEntry> parse_by_host(const std::string& line,
                                              const gpu::EntryFormat& format) {
  const auto parsed = [](const auto& entry) -> std::optional<gpu::ParsedEntry> {
    if (!entry) return std::nullopt;
    return gpu::ParsedEntry{entry->first, entry->second, entry->weight};
  };
  const bool weighted = format.weights != Weights::none;
  try {
    if (format.labelled) {
      return parsed(io::parse_link_line(line, format.timed ? io::LinkColumns::weights_and_times
                                              : weighted   ? io::LinkColumns::weights
                                                           : io::LinkColumns::ids));
    }
    return parsed(
        io::parse_entry_line(line, {.field = !weighted                          ? Field::pattern
                                             : format.weights == Weights::whole ? Field::integer
                                                                                : Field::real,
                                    .node_count = format.node_count}));
  } catch (const io::LineFault&) {
    return std::nullopt;
  }
}

/// Returns whether the GPU's parser accepts the line; if it does the host's must agree.
bool accepted_alike(const std::string& line, const gpu::EntryFormat& format) {
  const auto found = parse(line, format);
  if (!found) return false;
  CAPTURE(line);
  const auto expected = parse_by_host(line, format);
  REQUIRE(expected.has_value());
  CHECK(found->row == expected->row);
  CHECK(found->column == expected->column);
  CHECK(std::bit_cast<std::uint64_t>(found->weight) ==
        std::bit_cast<std::uint64_t>(expected->weight));
  return true;
}

bool accepted_alike(const std::string& line, NodeId nodes, Weights weights) {
  return accepted_alike(line, {nodes, weights});
}

constexpr std::array all_columns = {io::LinkColumns::ids, io::LinkColumns::weights,
                                    io::LinkColumns::weights_and_times};
constexpr std::array all_weights = {Weights::none, Weights::whole, Weights::real};

std::string digits(Random& random, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('0' + random() % 10);
  return text;
}

}  // namespace

TEST_CASE("usual lines are accepted") {
  CHECK(accepted_alike("1 1", 1, Weights::none));
  CHECK(accepted_alike("12345678 123456789", 200'000'000, Weights::none));
  CHECK(accepted_alike("4294967294 1", 4294967294, Weights::none));
  CHECK(accepted_alike(" \t 3\t  000000000000004 \r", 9, Weights::none));
  CHECK(accepted_alike("00000000000000000003 4", 9, Weights::none));
  CHECK(accepted_alike("3 4 7\r", 9, Weights::whole));
  CHECK(accepted_alike("3 4 18446744073709551615", 9, Weights::whole) == false);  // the host's
  CHECK(accepted_alike("3 4 9999999999999999999", 9, Weights::whole));
  for (const char* const weight :
       {"0", "0.0", "1", "1.", ".5", "0.25", "1e5", "1E-5", "1e+05", "3.14159265358979",
        "0.1234567890123456", "1.7976e22", "9007199254740993", "0.000000000000000000000"}) {
    CHECK(accepted_alike(std::string("3 4 ") + weight, 9, Weights::real));
  }
}

TEST_CASE("what is wrong, or in doubt, is not accepted") {
  for (const char* const line : {"",
                                 " ",
                                 "%",
                                 "1",
                                 "1 ",
                                 "1 0",
                                 "0 1",
                                 "10 1",
                                 "1 10",
                                 "1 1 1",
                                 "1 x",
                                 "x 1",
                                 "1x 1",
                                 "1 1x",
                                 "-1 1",
                                 "+1 1",
                                 "1.0 1",
                                 "1,1",
                                 "1 1 %",
                                 "000000000000000000001 1",
                                 "99999999999999999999 1"}) {
    CAPTURE(line);
    CHECK_FALSE(parse(line, 9, Weights::none));
  }
  for (const char* const weight : {"", "-1", "+1", "x", "1x", ".", "1e", "1e+", "e5", "1d5", "nan",
                                   "inf", "1e400", "1e-400", "1 1", "0x1", "1..", "1.5.5"}) {
    CAPTURE(weight);
    CHECK_FALSE(parse(std::string("1 1 ") + weight, 9, Weights::real));
  }
  CHECK_FALSE(parse("1 1 1.0", 9, Weights::whole));
  CHECK_FALSE(parse("1 1 1e1", 9, Weights::whole));
  CHECK_FALSE(parse(std::string("1 1\0", 4), 9, Weights::none));
}

TEST_CASE("usual links are accepted, with ids of any length") {
  using io::LinkColumns;
  for (const char* const ids : {"0 0", "1\t2", "30\t1412\r", " 7   8 ", "12345678 123456789",
                                "1234567890123456 1", "18446744073709551615 18446744073709551609",
                                "00000000000000000007 7", "9999999999999999999 1"}) {
    CAPTURE(ids);
    CHECK(accepted_alike(ids, links_of(LinkColumns::ids)));
    CHECK(accepted_alike(std::string(ids) + " 0.25", links_of(LinkColumns::weights)));
    CHECK(accepted_alike(std::string(ids) + "\t1 1180000001",
                         links_of(LinkColumns::weights_and_times)));
  }
  Random random(33);
  for (std::size_t length = 1; length <= 22; ++length) {
    for (int round = 0; round < 200; ++round) {
      const std::string id = digits(random, length);
      const bool first = accepted_alike(id + " 5", links_of(LinkColumns::ids));
      CHECK(accepted_alike("5 " + id, links_of(LinkColumns::ids)) == first);
      if (length < 20) CHECK(first);
    }
  }
}

TEST_CASE("links that are wrong, or in doubt, are not accepted") {
  using io::LinkColumns;
  for (const char* const line :
       {"", "#", "1", "1 ", "-1 1", "+1 1", "1.0 1", "1,1", "1 x", "1 1 1", "1 1 #", "1 1#",
        "18446744073709551616 1", "1 18446744073709551616", "99999999999999999999 1",
        "000000000000000000001 1"}) {
    CAPTURE(line);
    CHECK_FALSE(parse(line, links_of(LinkColumns::ids)));
  }
  CHECK_FALSE(parse(std::string("1 1\0", 4), links_of(LinkColumns::ids)));
  for (const char* const line : {"1 1", "1 1 ", "1 1 -1", "1 1 x", "1 1 1 1", "1 1 1 #"}) {
    CAPTURE(line);
    CHECK_FALSE(parse(line, links_of(LinkColumns::weights)));
  }
  for (const char* const line :
       {"1 1 1", "1 1 1 ", "1 1 1 0.5", "1 1 1 -3", "1 1 1 x", "1 1 1 1 1", "1 1 1 1x"}) {
    CAPTURE(line);
    CHECK_FALSE(parse(line, links_of(LinkColumns::weights_and_times)));
  }
}

TEST_CASE("which lines hold entries is what the host's parsers say, good or bad") {
  for (const char* const line :
       {"", " \t\r", "%", " % 1 1", "#", "\t#1 1", "1 1", "x", "  -", ";"}) {
    CAPTURE(line);
    const std::string text = std::string(line) + '\n';
    for (const bool labelled : {false, true}) {
      bool holds = true;  // and if it is bad it holds what should be one
      try {
        holds = labelled ? io::parse_link_line(line, io::LinkColumns::ids).has_value()
                         : io::parse_entry_line(line, {.node_count = 9}).has_value();
      } catch (const io::LineFault&) {
      }
      CHECK(gpu::holds_entry(text.data(), {.labelled = labelled, .hash_comments = labelled}) ==
            holds);
    }
  }
}

TEST_CASE("lines of any characters are accepted only if the host's parser agrees") {
  Random random(31);
  static constexpr std::array<const char*, 25> pieces = {
      "0", "1",  "2",  "9",  "10", "0000", "12345678", "1234567890123456",
      " ", "  ", "\t", "\r", ".",  "e",    "E",        "+",
      "-", "%",  "x",  "1e", "e5", " 1",   "1 ",       "\0",
      "#"};
  int accepted = 0, links = 0;
  for (int round = 0; round < 300'000; ++round) {
    std::string line = random() % 2 == 0 ? "3 4 " : "";
    for (auto count = random() % 8; count > 0; --count) line += pieces[random() % pieces.size()];
    for (const Weights weights : all_weights) {
      accepted += accepted_alike(line, random() % 2 == 0 ? 9 : 4294967294, weights);
    }
    for (const io::LinkColumns columns : all_columns) {
      links += accepted_alike(line, links_of(columns));
    }
  }
  CHECK(accepted > 10'000);
  CHECK(links > 10'000);
}

TEST_CASE("weights are rounded to the nearest double, ties to even") {
  Random random(32);
  int accepted = 0;
  for (int round = 0; round < 300'000; ++round) {
    std::string weight = digits(random, 1 + random() % 19);
    if (random() % 2 == 0) weight.insert(random() % (weight.size() + 1), ".");
    if (random() % 3 == 0) weight += "e" + std::to_string(static_cast<int>(random() % 60) - 30);
    accepted += accepted_alike("1 1 " + weight, 1, Weights::real);
  }
  CHECK(accepted > 250'000);
  // Halfway between two doubles, and next to that.
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t half = (random() >> 10 | std::uint64_t{1} << 53) << 1 | 1;
    for (const std::uint64_t mantissa : {half * 128 - 1, half * 128, half * 128 + 1}) {
      const std::string weight = std::to_string(mantissa);
      if (weight.size() > 19) continue;
      CHECK(accepted_alike("1 1 " + weight, 1, Weights::real));
      CHECK(accepted_alike("1 1 " + weight, 1, Weights::whole));
    }
  }
}

TEST_CASE("what lies just above the middle between two doubles is rounded up") {
  constexpr std::uint64_t even = std::uint64_t{1} << 52;  // the next double is even + 1
  const gpu::detail::Uint128 middle = (even << 1 | 1) << 9;
  CHECK(gpu::detail::round_to_double(middle, -10, false) == static_cast<double>(even));
  CHECK(gpu::detail::round_to_double(middle, -10, true) == static_cast<double>(even + 1));
  CHECK(gpu::detail::round_to_double(middle + 1, -10, false) == static_cast<double>(even + 1));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
