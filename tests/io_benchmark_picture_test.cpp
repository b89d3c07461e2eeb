// Benchmarks as a picture.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/benchmark_tables.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

TEST_CASE("the picture of a load is its bars, without a roofline") {
  const std::string svg = svg_of({load_table()});
  check_svg(svg);
  CHECK(count(svg, "class=\"bar\"") == 4);
  CHECK(count(svg, "class=\"marker\"") == 0);
  CHECK(svg.find("roofline") == std::string::npos);
  CHECK(svg.find(">count lines</text>") != std::string::npos);
  CHECK(svg.find("cuSPARSE") == std::string::npos);
}

TEST_CASE("the picture tells a refused kernel from a wrong one") {
  io::BenchmarkTable table = make_table("spmv", {make_refused("ell", "too long")});
  table.rows[0].max_difference.reset();
  CHECK(count(svg_of({table}), ">refused</text>") == 1);
  table.rows[0].max_difference = 0.5;
  CHECK(count(svg_of({table}), ">wrong</text>") == 1);
  table.rows[0].max_difference.reset();
  table.rows[0].refusal = "wrong result";
  CHECK(count(svg_of({table}), ">wrong</text>") == 1);
}

TEST_CASE("the picture has a name a row, and a bar, a value and a point a time") {
  const std::string svg = svg_of({spmv_table()});
  check_svg(svg);
  CHECK(count(svg, "<text class=\"kernel") == 6);
  CHECK(count(svg, "class=\"bar\"") == 5);
  CHECK(count(svg, "class=\"value\"") == 5);
  CHECK(count(svg, "class=\"marker\"") == 5);
  CHECK(count(svg, "class=\"point\"") == 5);
  CHECK(count(svg, "class=\"roof\"") == 2);
  CHECK(count(svg, "class=\"baseline\"") == 1);
  CHECK(count(svg, ">vector</text>") == 2);
  CHECK(count(svg, ">vector (values)</text>") == 2);
  CHECK(svg.find("(logarithmic)") != std::string::npos);  // 11 ms against 0.2 ms
}

TEST_CASE("bars of similar length have a linear axis") {
  io::BenchmarkTable table = spmv_table();
  table.rows.erase(table.rows.begin() + 4);
  const std::string svg = svg_of({table});
  check_svg(svg);
  CHECK(svg.find("(logarithmic)") == std::string::npos);
}

TEST_CASE("the labels of the roofline stand apart, in the picture") {
  io::BenchmarkTable table = spmv_table();
  table.rows.clear();
  for (int i = 0; i < 40; ++i) {
    table.rows.push_back(make_row("kernel" + std::to_string(i), i % 2 == 0, 1e-3));
  }
  const std::string svg = svg_of({table});
  check_svg(svg);
  std::vector<double> heights;
  for (const std::string& line : lines_of(svg)) {
    if (!line.starts_with("<text class=\"point\"")) continue;
    heights.push_back(std::stod(line.substr(line.find(" y=\"") + 4)));
  }
  REQUIRE(heights.size() == 40);
  std::sort(heights.begin(), heights.end());
  CHECK(heights.front() > 0);
  CHECK(heights.back() < std::stod(svg.substr(svg.find(" height=\"") + 9)));
  for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i] - heights[i - 1] > 12);
}

TEST_CASE("the roof is drawn from what was measured") {
  io::BenchmarkTable table = spmv_table();
  const auto roofs = [&table] {
    const std::string svg = svg_of({table});
    check_svg(svg);
    return count(svg, "class=\"roof\"");
  };
  SUBCASE("bandwidth alone") {
    table.fma_flops_per_second = 0;
    CHECK(roofs() == 1);
  }
  SUBCASE("peak alone") {
    table.copy_bytes_per_second = 0;
    CHECK(roofs() == 1);
  }
  SUBCASE("nothing") {
    table.copy_bytes_per_second = table.fma_flops_per_second = 0;
    CHECK(roofs() == 0);
  }
  SUBCASE("points above the roof, as of a graph that stays in the caches") {
    table.copy_bytes_per_second = 1e9;
    CHECK(roofs() == 2);
  }
}

TEST_CASE("the picture escapes its texts") {
  io::BenchmarkTable table = make_table("spmv", {make_row("<&>", false, 1e-3)});
  table.graph = "a<b>&\"c\".mtx";
  table.device = "bad \xff\x01\xef\xbf\xbf";
  const std::string svg = svg_of({table});
  check_svg(svg);
  CHECK(svg.find("a&lt;b&gt;&amp;\"c\".mtx") != std::string::npos);
  CHECK(svg.find("&lt;&amp;&gt;</text>") != std::string::npos);
  CHECK(svg.find("bad \xef\xbf\xbd \xef\xbf\xbd, float") != std::string::npos);
}

TEST_CASE("the picture cuts texts that are too long, between characters") {
  io::BenchmarkTable table = make_table("spmv", {make_row("k", false, 1e-3)});
  for (int i = 0; i < 200; ++i) table.graph += "é";
  const std::string svg = svg_of({table});
  check_svg(svg);
  CHECK(svg.find("é…</text>") != std::string::npos);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
