// Lines of short numbers, many at a time: the same as line by line.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>

#include "io/edge_list_lines.hpp"
#include "io/short_lines.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

/// Parses the line between others, by both ways.
void check_line(const std::string& line, io::LinkColumns columns) {
  CAPTURE(line);
  const std::string neighbour = columns == io::LinkColumns::ids ? "1 2\n" : "1 2 3\n";
  std::string text;
  for (int i = 0; i < 100; ++i) text += i == 20 || i == 77 ? line + "\n" : neighbour;
  io::LinkEntries found;
  io::parse_links(text, columns, found);
  try {
    const auto expected = io::parse_link_line(line, columns);
    REQUIRE_FALSE(found.fault.has_value());
    REQUIRE(found.entry_count() == (expected ? 100 : 98));
    if (!expected) return;
    for (const std::size_t place : {20, 77}) {
      CHECK(found.first[place] == expected->first);
      CHECK(found.second[place] == expected->second);
      if (columns != io::LinkColumns::ids) CHECK(found.weights[place] == expected->weight);
    }
    CHECK(found.first[76] == 1);
    CHECK(found.second[78] == 2);
  } catch (const io::LineFault& fault) {
    REQUIRE(found.fault.has_value());
    CHECK(static_cast<int>(found.fault->fault) == static_cast<int>(fault.fault));
    CHECK(found.fault->line == 21);
  }
}

std::string digits(std::size_t count) {
  return std::string("9081726354192837465").substr(0, count);
}

}  // namespace

TEST_CASE("what is no digit, and newlines, are found among any bytes") {
  std::mt19937_64 random(7);
  std::array<char, io::usual::window> text;
  for (int round = 0; round < 3000; ++round) {
    std::uint64_t others = 0, newlines = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      text[i] = static_cast<char>(round % 3 == 0   ? random()
                                  : round % 3 == 1 ? '-' + random() % 16
                                                   : 8 + random() % 4);
      others |= std::uint64_t{text[i] < '0' || text[i] > '9'} << i;
      newlines |= std::uint64_t{text[i] == '\n'} << i;
    }
    for (const auto found :
         {io::usual::look(text.data()), io::usual::look_by_vectors(text.data())}) {
      CHECK(found.others == others);
      CHECK(found.newlines == newlines);
    }
  }
}

TEST_CASE("numbers of any length are read the same among short ones") {
  for (std::size_t a = 1; a <= 19; ++a) {
    for (std::size_t b = 1; b <= 19; ++b) {
      check_line(digits(a) + " " + digits(b), io::LinkColumns::ids);
      check_line(digits(a) + "\t7 " + digits(b), io::LinkColumns::weights);
      check_line("7 " + digits(a) + " 0." + digits(b), io::LinkColumns::weights);
      check_line("7 7 " + digits(a) + "." + digits(b), io::LinkColumns::weights);
    }
  }
}

TEST_CASE("lines of other forms are read the same among short ones") {
  for (const char* line :
       {"1  2",        " 1 2",      "1 2 ",    "1 2\r",   "1\r2",      "+1 2",
        "1 -2",        "1",         "",        "% 1 2",   "1 2x",      "1,2",
        "1.5 2",       "1 2.5",     "a b",     "1 2 3 4", "1 2 3",     "00000000 00000001",
        "1 2 0.50000", "1 2 .5",    "1 2 5.",  "1 2 1e3", "1 2 1.5e3", "1 2 -1",
        "1 2 1..5",    "1 2 1.5.5", "1 2 nan", "1 2 %"}) {
    check_line(line, io::LinkColumns::ids);
    check_line(line, io::LinkColumns::weights);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
