#include "io/benchmark_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using Json = nlohmann::json;
using Tables = std::vector<io::BenchmarkTable>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

io::BenchmarkRow make_row(const std::string& kernel, bool values, double median) {
  io::BenchmarkRow row;
  row.kernel = kernel;
  row.values = values;
  row.prepare_seconds = 0.002;
  row.median_seconds = median;
  row.min_seconds = median / 2;
  row.samples = 50;
  row.bytes = values ? 600000000 : 300000000;
  row.flops = values ? 134000000 : 67000000;
  row.max_difference = 2.3e-8;
  return row;
}

/// With numbers that nobody should see.
io::BenchmarkRow make_refused(const std::string& kernel, const std::string& refusal) {
  io::BenchmarkRow row = make_row(kernel, false, 1e-6);
  row.refusal = refusal;
  row.iterations = 52;
  row.solve_seconds = 0.5;
  row.error_bound = 1e-9;
  return row;
}

io::BenchmarkTable make_table(const std::string& benchmark, std::vector<io::BenchmarkRow> rows) {
  io::BenchmarkTable table;
  table.benchmark = benchmark;
  table.graph = "rmat:22x16";
  table.nodes = 4194304;
  table.links = 67108864;
  table.device = "Some GPU";
  table.precision = "float";
  table.version = "9.9";
  table.copy_bytes_per_second = 3e12;
  table.fma_flops_per_second = 60e12;
  table.rows = std::move(rows);
  return table;
}

io::BenchmarkTable spmv_table() {
  return make_table(
      "spmv",
      {make_row("cusparse", true, 0.5e-3), make_row("cusparse-alg1", true, 0.4e-3),
       make_row("vector", false, 0.2e-3), make_row("vector", true, 0.8e-3),
       make_row("scalar", false, 11e-3), make_refused("ell", "the longest row is too long")});
}

std::string text_of(const io::BenchmarkTable& table) {
  std::ostringstream out;
  io::write_benchmark_text(out, table);
  return out.str();
}

std::string csv_of(const Tables& tables) {
  std::ostringstream out;
  io::write_benchmark_csv(out, tables);
  return out.str();
}

Json json_of(const Tables& tables) {
  std::ostringstream out;
  io::write_benchmark_json(out, tables);
  return Json::parse(out.str());
}

std::string svg_of(const Tables& tables) {
  std::ostringstream out;
  io::write_benchmark_svg(out, tables);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// RFC 4180.
std::vector<std::vector<std::string>> csv_records(const std::string& csv) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv[i] == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
        record.back() += csv[++i];
      } else {
        quoted = !quoted;
      }
    } else if (csv[i] == ',' && !quoted) {
      record.emplace_back();
    } else if (csv[i] == '\n' && !quoted) {
      records.push_back(std::move(record));
      record.assign(1, "");
    } else {
      record.back() += csv[i];
    }
  }
  CHECK_FALSE(quoted);
  CHECK(record == std::vector<std::string>{""});  // the last line ends
  return records;
}

std::string csv_field(const std::vector<std::vector<std::string>>& records, std::size_t line,
                      const std::string& column) {
  const auto& names = records.at(0);
  const auto place = std::find(names.begin(), names.end(), column) - names.begin();
  return records.at(line).at(static_cast<std::size_t>(place));
}

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) {
    ++found;
  }
  return found;
}

/// Whether every '&' begins a reference.
bool references_only(const std::string& text) {
  return count(text, "&") == count(text, "&amp;") + count(text, "&lt;") + count(text, "&gt;");
}

/// One root, tags that match, attributes with both quotes, nothing unescaped.
bool well_formed(const std::string& xml) {
  const std::string declaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";
  if (!xml.starts_with(declaration)) return false;
  std::vector<std::string> open;
  int roots = 0;
  std::size_t at = declaration.size();
  while (true) {
    const std::size_t begin = xml.find('<', at);
    const std::string text = xml.substr(at, begin == std::string::npos ? begin : begin - at);
    if (!references_only(text) || text.find('>') != std::string::npos) return false;
    if (begin == std::string::npos) return open.empty() && roots == 1;
    const std::size_t end = xml.find('>', begin);
    if (end == std::string::npos) return false;
    std::string tag = xml.substr(begin + 1, end - begin - 1);
    at = end + 1;
    if (tag.find('<') != std::string::npos || count(tag, "\"") % 2 != 0) return false;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
      continue;
    }
    if (open.empty()) ++roots;
    if (!tag.ends_with("/")) open.push_back(tag.substr(0, tag.find(' ')));
  }
}

/// What any SVG of ours must be.
void check_svg(const std::string& svg) {
  CAPTURE(svg);
  CHECK(well_formed(svg));
  CHECK_NOTHROW(static_cast<void>(Json(svg).dump()));  // throws unless it is UTF-8
  CHECK(count(svg, "<svg ") == 1);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(std::none_of(svg.begin(), svg.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; }));
}

}  // namespace

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
  CHECK(
      lines[2].ends_with("vs cuSPARSE  difference  prepare ms  iterations  solve ms  error bound"));
  CHECK(
      lines[3].ends_with("          -     2.3e-08       2.000          52     10.40      3.1e-09"));
  CHECK(
      lines[4].ends_with("          -           -       2.000           -         -            -"));
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

/// A file of a gigabyte, read by the host and over a bus of 50 GB/s.
io::BenchmarkTable load_table() {
  io::BenchmarkTable table = make_table("load", {});
  table.precision = "double";
  table.copy_bytes_per_second = 100e9;
  table.fma_flops_per_second = 0;
  table.bus_bytes_per_second = 50e9;
  const auto add = [&table](const char* kernel, double median) -> io::BenchmarkRow& {
    table.rows.push_back({.kernel = kernel,
                          .refusal = "",
                          .median_seconds = median,
                          .min_seconds = median,
                          .samples = 3,
                          .bytes = 1'000'000'000});
    return table.rows.back();
  };
  add("count lines", 0.2);
  add("load", 0.1).stream_seconds = 0.05;
  add("bus", 0.02).over_bus = true;
  io::BenchmarkRow& device = add("load device", 0.04);
  device.over_bus = true;
  device.stream_seconds = 0.025;
  device.context_seconds = 0.16;
  return table;
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

TEST_CASE("the picture of a load is its bars, without a roofline") {
  const std::string svg = svg_of({load_table()});
  check_svg(svg);
  CHECK(count(svg, "class=\"bar\"") == 4);
  CHECK(count(svg, "class=\"marker\"") == 0);
  CHECK(svg.find("roofline") == std::string::npos);
  CHECK(svg.find(">count lines</text>") != std::string::npos);
  CHECK(svg.find("cuSPARSE") == std::string::npos);
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
      "samples,links_per_second,bytes,bytes_per_second,share_of_ceiling,ratio_to_baseline,"
      "max_difference,prepare_seconds,loop,iterations,solve_seconds,error_bound,peak_bytes,"
      "stream_seconds,stream_bytes_per_second,context_seconds,refusal\n"
      "spmv,rmat:22x16,4194304,67108864,Some GPU,float,cusparse,true,5e-04,0.00025,50,"));
  const auto records = csv_records(csv);
  REQUIRE(records.size() == 13);
  for (const auto& record : records) CHECK(record.size() == 27);
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
  for (const auto& record : records) CHECK(record.size() == 27);
  CHECK(csv_field(records, 1, "graph") == table.graph);
  CHECK(csv_field(records, 2, "refusal") == table.rows[1].refusal);
}

TEST_CASE("csv starts each line with a comma if the benchmark has no name") {
  io::BenchmarkTable table = spmv_table();
  table.benchmark = "";
  for (const auto& record : csv_records(csv_of({table}))) CHECK(record.size() == 27);
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
          "bytes_per_second", "share_of_ceiling", "ratio_to_baseline", "max_difference",
          "prepare_seconds", "iterations", "solve_seconds", "error_bound"}) {
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
