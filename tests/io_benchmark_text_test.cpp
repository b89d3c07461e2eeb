// Benchmarks as text, CSV and JSON.
#include <doctest/doctest.h>

#include "tests/benchmark_tables.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

TEST_CASE("the text of a benchmark is two headings and an aligned table") {
  CHECK(text_of(spmv_table()) ==
        R"(spmv rmat:22x16: 4194304 nodes, 67108864 links
Some GPU, float, copy 3000 GB/s, FMA 60000 Gflop/s
kernel         values      ms  ms min  Glinks/s   GB/s  % of ceiling  vs cuSPARSE  difference
cusparse       yes     0.5000  0.2500     134.2   1200          40.0        0.80x     2.3e-08
cusparse-alg1  yes     0.4000  0.2000     167.8   1500          50.0        1.00x     2.3e-08
vector         no      0.2000  0.1000     335.5   1500          50.0        2.00x     2.3e-08
vector         yes     0.8000  0.4000     83.89  750.0          25.0        0.50x     2.3e-08
scalar         no       11.00   5.500     6.101  27.27         0.909        0.04x     2.3e-08
ell            no      the longest row is too long
)");
}

TEST_CASE("the text of a solve has the columns of a solve, '-' where a number is unset") {
  io::BenchmarkTable table = make_table(
      "solve", {make_row("vector", false, 0.2e-3), make_row("vector", true, 9.99999e-3)});
  table.fma_flops_per_second = 0;
  table.rows[0].iterations = 52;
  table.rows[0].solve_seconds = 0.0104;
  table.rows[0].error_bound = 3.14e-9;
  table.rows[1].max_difference.reset();
  const std::vector<std::string> lines = lines_of(text_of(table));
  REQUIRE(lines.size() == 5);
  CHECK(lines[1] == "Some GPU, float, copy 3000 GB/s");
  CHECK(lines[2].ends_with(
      "vs cuSPARSE  difference  B/link  vs floor  prepare ms  iterations  solve ms  error bound"));
  CHECK(lines[3].ends_with(
      "          -     2.3e-08   4.470     1.88x       2.000          52     10.40      3.1e-09"));
  CHECK(lines[4].ends_with(
      "          -           -   8.941    94.11x       2.000           -         -            -"));
  CHECK(lines[4].starts_with("vector  yes      10.00   5.000"));
  CHECK(lines[3].size() == lines[2].size());
  CHECK(lines[4].size() == lines[2].size());
}

TEST_CASE("the text of a reduction counts elements and leaves the values out") {
  io::BenchmarkTable table = make_table("reduce", {make_row("cublas", true, 0.1e-3)});
  table.copy_bytes_per_second = 0;
  table.rows[0].max_difference = 0;
  const std::vector<std::string> lines = lines_of(text_of(table));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "reduce rmat:22x16: 67108864 elements");
  CHECK(lines[1] == "Some GPU, float, FMA 60000 Gflop/s");
  CHECK(lines[2] == "kernel      ms   ms min  Gelem/s  GB/s  % of ceiling  vs cuBLAS  difference");
  CHECK(lines[3] == "cublas  0.1000  0.05000    671.1  6000             -      1.00x           0");
}

TEST_CASE("a load over the bus is held against it while text travels, others against the file") {
  const io::BenchmarkTable table = load_table();
  CHECK(*table.share_of_ceiling(table.rows[1]) == doctest::Approx(0.1));
  CHECK(*table.share_of_ceiling(table.rows[2]) == doctest::Approx(1));
  CHECK(*table.share_of_ceiling(table.rows[3]) == doctest::Approx(0.8));
  io::BenchmarkTable unmeasured = table;
  unmeasured.bus_bytes_per_second = 0;
  CHECK_FALSE(unmeasured.share_of_ceiling(table.rows[3]).has_value());

  const std::vector<std::string> lines = lines_of(text_of(table));
  REQUIRE(lines.size() == 7);
  CHECK(lines[1] == "Some GPU, double, file 100.0 GB/s, bus 50.00 GB/s");
  CHECK(lines[2].ends_with(
      "% of ceiling  vs count  peak B/link  stream ms  stream GB/s  context ms"));
  CHECK(lines[3].ends_with("5.00     1.00x            -          -            -           -"));
  CHECK(lines[4].ends_with("10.0     2.00x            -      50.00        20.00           -"));
  CHECK(lines[6].ends_with("80.0     5.00x            -      25.00        40.00       160.0"));
  CHECK(text_of(unmeasured).find("stream") == std::string::npos);

  const Json json = json_of({table})["tables"][0];
  CHECK(json["bus_bytes_per_second"] == 50e9);
  const Json& row = json["rows"][3];
  CHECK(row["stream_seconds"] == 0.025);
  CHECK(row["stream_bytes_per_second"].get<double>() == doctest::Approx(40e9));
  CHECK(row["context_seconds"] == 0.16);
  CHECK(row["share_of_ceiling"].get<double>() == doctest::Approx(0.8));
  CHECK(json["rows"][0]["stream_seconds"].is_null());
  const auto records = csv_records(csv_of({table}));
  CHECK(csv_field(records, 4, "context_seconds") == "0.16");
  CHECK(csv_field(records, 4, "stream_seconds") == "0.025");
  CHECK(csv_field(records, 1, "stream_seconds").empty());
}

TEST_CASE("a line break in a name or refusal leaves the text a table") {
  io::BenchmarkTable table = make_table("spmv", {make_refused("a\nb", "c\r\nd")});
  table.graph = "e\nf";
  CHECK(lines_of(text_of(table)).size() == 4);
}

TEST_CASE("csv has the same columns in every line, numbers enough to read back") {
  io::BenchmarkTable solve = spmv_table();
  solve.benchmark = "solve";
  solve.rows[0].iterations = 52;
  solve.rows[0].error_bound = 0.1 + 0.2;
  const std::string csv = csv_of({spmv_table(), solve});
  CHECK(csv.starts_with(
      "benchmark,graph,nodes,links,device,precision,kernel,values,median_seconds,min_seconds,"
      "samples,links_per_second,bytes,bytes_per_second,share_of_ceiling,ratio_to_floor,"
      "ratio_to_baseline,max_difference,prepare_seconds,loop,iterations,solve_seconds,error_bound,"
      "peak_bytes,"
      "stream_seconds,stream_bytes_per_second,context_seconds,refusal\n"
      "spmv,rmat:22x16,4194304,67108864,Some GPU,float,cusparse,true,5e-04,0.00025,50,"));
  const auto records = csv_records(csv);
  REQUIRE(records.size() == 13);
  for (const auto& record : records) CHECK(record.size() == 28);
  CHECK(csv_field(records, 3, "kernel") == "vector");
  CHECK(csv_field(records, 3, "values") == "false");
  CHECK(csv_field(records, 3, "bytes") == "300000000");
  CHECK(std::stod(csv_field(records, 3, "ratio_to_baseline")) == 2);
  CHECK(csv_field(records, 3, "iterations").empty());
  CHECK(csv_field(records, 3, "refusal").empty());
  CHECK(csv_field(records, 7, "iterations") == "52");
  CHECK(csv_field(records, 7, "error_bound") == "0.30000000000000004");
}

TEST_CASE("csv quotes what would break its lines") {
  io::BenchmarkTable table =
      make_table("spmv", {make_row("a,b", false, 1), make_refused("c", "d \"e\"\nf, g\r")});
  table.graph = "my \"graph\".mtx";
  table.device = "";
  const std::string csv = csv_of({table});
  CHECK(csv.find("\nspmv,\"my \"\"graph\"\".mtx\",4194304,67108864,,float,\"a,b\",") !=
        std::string::npos);
  const auto records = csv_records(csv);
  REQUIRE(records.size() == 3);
  for (const auto& record : records) CHECK(record.size() == 28);
  CHECK(csv_field(records, 1, "graph") == table.graph);
  CHECK(csv_field(records, 2, "refusal") == table.rows[1].refusal);
}

TEST_CASE("csv starts each line with a comma if the benchmark has no name") {
  io::BenchmarkTable table = spmv_table();
  table.benchmark = "";
  for (const auto& record : csv_records(csv_of({table}))) CHECK(record.size() == 28);
}

TEST_CASE("json has every field, rows within tables") {
  io::BenchmarkTable solve = spmv_table();
  solve.benchmark = "solve";
  solve.rows[0].iterations = 52;
  solve.rows[0].solve_seconds = 0.026;
  solve.rows[0].error_bound = 1e-9;
  solve.fma_flops_per_second = 0;
  const Json json = json_of({spmv_table(), solve});
  CHECK(json["schema_version"] == 1);
  REQUIRE(json["tables"].size() == 2);
  const Json& table = json["tables"][1];
  CHECK(table["benchmark"] == "solve");
  CHECK(table["graph"] == "rmat:22x16");
  CHECK(table["nodes"] == 4194304);
  CHECK(table["links"] == 67108864);
  CHECK(table["device"] == "Some GPU");
  CHECK(table["precision"] == "float");
  CHECK(table["version"] == "9.9");
  CHECK(table["copy_bytes_per_second"] == 3e12);
  CHECK(table["fma_flops_per_second"].is_null());
  REQUIRE(table["rows"].size() == 6);
  const Json& row = table["rows"][0];
  CHECK(row["kernel"] == "cusparse");
  CHECK(row["values"] == true);
  CHECK(row["median_seconds"] == 0.5e-3);
  CHECK(row["min_seconds"] == 0.25e-3);
  CHECK(row["samples"] == 50);
  CHECK(row["links_per_second"].get<double>() == doctest::Approx(67108864 / 0.5e-3));
  CHECK(row["bytes"] == 600000000);
  CHECK(row["bytes_per_second"].get<double>() == doctest::Approx(1.2e12));
  CHECK(row["flops"] == 134000000);
  CHECK(row["share_of_ceiling"].get<double>() == doctest::Approx(0.4));
  CHECK(row["ratio_to_baseline"].get<double>() == doctest::Approx(0.8));
  CHECK(row["max_difference"] == 2.3e-8);
  CHECK(row["prepare_seconds"] == 0.002);
  CHECK(row["iterations"] == 52);
  CHECK(row["iterations"].is_number_integer());
  CHECK(row["solve_seconds"] == 0.026);
  CHECK(row["error_bound"] == 1e-9);
  CHECK(row["refusal"].is_null());
  CHECK(table["rows"][1]["iterations"].is_null());
}

TEST_CASE("json replaces bytes that are not UTF-8") {
  io::BenchmarkTable table = spmv_table();
  table.graph = "a\xff.mtx";
  CHECK(json_of({table})["tables"][0]["graph"] == "a\xef\xbf\xbd.mtx");
}

TEST_SUITE_END();
}  // namespace pagerank::tests
