// Lines of short numbers, many at a time: the same as line by line.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "io/edge_list_lines.hpp"
#include "io/short_lines_avx512.hpp"
#include "tests/support.hpp"

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

TEST_CASE(
    "lines are read the same whatever the processor offers, and up to what is no short line") {
  using Read = std::uint64_t (*)(const char*&, const char*, io::usual::IdRange, bool,
                                 io::usual::LineNumbers<NodeId>);
  struct Way {
    Read plain, weighted;
  };
  std::vector<Way> ways = {
      {io::usual::read_lines<false, NodeId>, io::usual::read_lines<true, NodeId>}};
#if defined(__x86_64__)
  if (io::usual::avx512::is_supported()) {
    ways.push_back({io::usual::avx512::read_lines<false, NodeId>,
                    io::usual::avx512::read_lines<true, NodeId>});
  } else if (is_required("PAGERANK_REQUIRE_AVX512")) {
    FAIL_CHECK("this processor does not have AVX-512");
  } else {
    MESSAGE("skipped for AVX-512, which this processor does not have");
  }
#else
  CHECK_FALSE(is_required("PAGERANK_REQUIRE_AVX512"));
#endif
  std::mt19937_64 random(11);
  const auto number = [&](std::size_t digits) {
    std::string text(1, static_cast<char>('1' + random() % 9));
    while (text.size() < digits) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const bool weighted = round % 2 == 0, whole = round % 8 == 0, odd = round % 3 > 0;
    const std::size_t digits = 1 + random() % 8;
    const io::usual::IdRange range{.least = 1, .count = round % 5 == 0 ? 50'000 : 99'999'999};
    std::string text = "%%begin\n";
    std::vector<std::size_t> begins;
    std::vector<std::array<double, 3>> expected;
    const std::size_t odd_one = random() % 60;
    std::size_t short_ones = 60;
    for (std::size_t line = 0; line < 60; ++line) {
      begins.push_back(text.size());
      std::string one = number(1 + random() % digits) + (random() % 2 == 0 ? ' ' : '\t') +
                        number(1 + random() % digits);
      if (weighted) {
        one += ' ' + (random() % 4 == 0 ? std::string("0") : number(1 + random() % 8));
        if (!whole && random() % 3 > 0) {
          one += '.';
          if (random() % 8 > 0) one += number(1 + random() % 7);
        }
      }
      if (odd && line == odd_one) {
        const char* const others =
            " \t\r.+-%eE\0:/\x80"
            "9";
        const auto other = others[random() % 14];
        random() % 2 == 0 ? one.insert(random() % (one.size() + 1), 1, other)
                          : one.replace(random() % one.size(), 1, 1, other);
      }
      text += one + '\n';
      unsigned long first = 0, second = 0;
      double weight = 0;
      char more = 0;
      const int read = std::sscanf(one.c_str(), "%lu%lu%lf%c", &first, &second, &weight, &more);
      const bool is_short =
          read == (weighted ? 3 : 2) && one.find_first_not_of("0123456789 \t.") == one.npos &&
          one.size() == std::strlen(one.c_str()) && first - 1 < range.count + 0UL &&
          second - 1 < range.count + 0UL && !(whole && one.find('.') != one.npos);
      if (!is_short) short_ones = std::min(short_ones, line);
      expected.push_back({static_cast<double>(first) - 1, static_cast<double>(second) - 1, weight});
    }
    const std::string behind(64, '\n');
    const std::string all = text + behind;
    CAPTURE(text);
    for (const Way& way : ways) {
      std::vector<NodeId> first(70), second(70);
      std::vector<double> weights(70);
      const char* at = all.data() + 8;
      const std::uint64_t read = (weighted ? way.weighted : way.plain)(
          at, all.data() + all.size(), range, whole, {first.data(), second.data(), weights.data()});
      REQUIRE(read <= short_ones);
      REQUIRE(at == all.data() + (read < 60 ? begins[read] : text.size()));
      // Lines are given up together.
      if (!odd && short_ones == 60) CHECK(read >= 57);
      for (std::size_t line = 0; line < read; ++line) {
        CHECK(first[line] == expected[line][0]);
        CHECK(second[line] == expected[line][1]);
        if (weighted) CHECK(weights[line] == expected[line][2]);
      }
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
