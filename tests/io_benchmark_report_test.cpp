// What a table of benchmarks knows of its rows, and what every form of it keeps to.
#include <doctest/doctest.h>

#include "tests/benchmark_tables.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

TEST_CASE("ratios are against the fastest cuSPARSE row that has a time") {
  io::BenchmarkTable table = spmv_table();
  REQUIRE(table.baseline_seconds().has_value());
  CHECK(*table.baseline_seconds() == 0.4e-3);
  CHECK(*table.ratio_to_baseline(table.rows[2]) == doctest::Approx(2));
  CHECK(*table.ratio_to_baseline(table.rows[1]) == 1);
  CHECK_FALSE(table.ratio_to_baseline(table.rows[5]).has_value());

  table.rows[1].refusal = "wrong";
  CHECK(*table.baseline_seconds() == 0.5e-3);
  table.rows[0].median_seconds = 0;
  CHECK_FALSE(table.baseline_seconds().has_value());
  CHECK_FALSE(table.ratio_to_baseline(table.rows[2]).has_value());
}

TEST_CASE("the baseline of a solve is cuSPARSE, that of a reduction cuBLAS") {
  const std::vector<io::BenchmarkRow> rows = {make_row("cusparse", false, 1e-3),
                                              make_row("cublas", false, 2e-3)};
  CHECK(*make_table("solve", rows).baseline_seconds() == 1e-3);
  CHECK(*make_table("reduce", rows).baseline_seconds() == 2e-3);
  CHECK_FALSE(make_table("reduce", {rows[0]}).baseline_seconds().has_value());
}

TEST_CASE("the share of the ceiling needs a time and a measured ceiling") {
  io::BenchmarkTable table = spmv_table();
  CHECK(*table.share_of_ceiling(table.rows[2]) == doctest::Approx(0.5));
  CHECK_FALSE(table.share_of_ceiling(table.rows[5]).has_value());
  io::BenchmarkRow host = table.rows[2];
  host.on_host = true;
  CHECK_FALSE(table.share_of_ceiling(host).has_value());
  host.ceiling_bytes_per_second = 4 * host.bytes_per_second();
  CHECK(*table.share_of_ceiling(host) == doctest::Approx(0.25));
  table.rows[2].median_seconds = 0;
  CHECK_FALSE(table.share_of_ceiling(table.rows[2]).has_value());
  table.copy_bytes_per_second = 0;
  CHECK_FALSE(table.share_of_ceiling(table.rows[3]).has_value());
}

TEST_CASE("an iteration's floor is its links' ids, on a device what nodes move besides") {
  io::BenchmarkTable table = make_table("solve", {make_row("vector", false, 0.5e-3)});
  table.links = 1000;
  table.nodes = 100;
  table.copy_bytes_per_second = 52e6;  // 4000 and 1200 bytes take 0.1 ms
  CHECK(*table.ratio_to_floor(table.rows[0]) == doctest::Approx(5));
  CHECK(text_of(table).find("  5.00x") != std::string::npos);
  table.rows[0].on_host = true;
  CHECK_FALSE(table.ratio_to_floor(table.rows[0]).has_value());
  table.rows[0].ceiling_bytes_per_second = 20e6;
  CHECK(*table.ratio_to_floor(table.rows[0]) == doctest::Approx(2.5));
  table.benchmark = "spmv";
  CHECK_FALSE(table.ratio_to_floor(table.rows[0]).has_value());
}

TEST_CASE("a refused row shows its refusal and no number") {
  for (const char* benchmark : {"spmv", "solve", "reduce"}) {
    CAPTURE(benchmark);
    const io::BenchmarkTable table =
        make_table(benchmark, {make_row("vector", false, 1e-3), make_refused("ell", "too long")});
    const std::string names = benchmark == std::string("reduce") ? "ell   " : "ell     no    ";
    CHECK(lines_of(text_of(table)).back() == names + "  too long");

    const auto records = csv_records(csv_of({table}));
    const Json row = json_of({table})["tables"][0]["rows"][1];
    for (const char* column :
         {"median_seconds", "min_seconds", "samples", "links_per_second", "bytes",
          "bytes_per_second", "share_of_ceiling", "ratio_to_floor", "ratio_to_baseline",
          "max_difference", "prepare_seconds", "iterations", "solve_seconds", "error_bound"}) {
      CAPTURE(column);
      CHECK(csv_field(records, 2, column).empty());
      CHECK(row.at(column).is_null());
    }
    CHECK(row.at("flops").is_null());
    CHECK(csv_field(records, 2, "refusal") == "too long");
    CHECK(row.at("refusal") == "too long");

    const std::string svg = svg_of({table});
    check_svg(svg);
    CHECK(count(svg, "class=\"bar\"") == 1);
    CHECK(count(svg, "class=\"value\"") == 1);
    CHECK(count(svg, "class=\"marker\"") == 1);
  }
}

TEST_CASE("what is not finite is written nowhere") {
  io::BenchmarkTable table =
      make_table("solve", {make_row("cusparse", false, 0), make_row("a", false, infinity),
                           make_row("b", false, not_a_number), make_row("c", false, 5e-324),
                           make_row("d", false, 1e-3), make_row("e", false, -1)});
  io::BenchmarkRow& row = table.rows[4];
  row.prepare_seconds = not_a_number;
  row.max_difference = infinity;
  row.error_bound = not_a_number;
  row.solve_seconds = -infinity;
  row.bytes = 0;
  const auto has = [](const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
  };
  const std::string csv = csv_of({table});
  const std::string values = csv.substr(csv.find('\n'));
  for (const char* word : {"nan", "inf"}) {
    CHECK_FALSE(has(text_of(table), word));
    CHECK_FALSE(has(values, word));
    CHECK_FALSE(has(json_of({table}).dump(), word));
  }
  CHECK(json_of({table})["tables"][0]["rows"][4]["max_difference"].is_null());
  check_svg(svg_of({table}));
  table.copy_bytes_per_second = infinity;
  table.fma_flops_per_second = not_a_number;
  check_svg(svg_of({table}));
  CHECK(json_of({table})["tables"][0]["copy_bytes_per_second"].is_null());
}

TEST_CASE("tables without anything to show are still well-formed") {
  const io::BenchmarkTable without_rows = make_table("spmv", {});
  const io::BenchmarkTable refused =
      make_table("spmv", {make_refused("a", "no"), make_refused("b", "no")});
  const io::BenchmarkTable one = make_table("reduce", {make_row("cublas", false, 1e-4)});

  CHECK(lines_of(text_of(without_rows)).size() == 3);
  CHECK(lines_of(text_of(refused)).size() == 5);
  CHECK(csv_records(csv_of({})).size() == 1);
  CHECK(csv_records(csv_of({without_rows, refused, one})).size() == 4);
  CHECK(json_of({})["tables"].is_array());
  CHECK(json_of({})["tables"].empty());
  CHECK(json_of({without_rows})["tables"][0]["rows"].is_array());
  CHECK(json_of({without_rows})["tables"][0]["rows"].empty());

  for (const Tables& tables :
       {Tables{}, Tables{without_rows}, Tables{refused}, Tables{one}, Tables{io::BenchmarkTable{}},
        Tables{one, without_rows, refused, spmv_table()}}) {
    check_svg(svg_of(tables));
  }
  CHECK(count(svg_of({refused}), "<text class=\"kernel") == 2);
  CHECK(count(svg_of({refused}), "class=\"bar\"") == 0);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
