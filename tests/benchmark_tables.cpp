#include "tests/benchmark_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace pagerank::tests {

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

namespace {

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

}  // namespace

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

}  // namespace pagerank::tests
