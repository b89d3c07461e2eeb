#include "io/benchmark_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace pagerank::io {
namespace {

using Json = nlohmann::ordered_json;

/// The row's median, unset where a rate or a ratio of it would mean nothing.
std::optional<double> median_of(const BenchmarkRow& row) {
  if (!row.refusal.empty()) return std::nullopt;
  if (!std::isfinite(row.median_seconds) || row.median_seconds <= 0) return std::nullopt;
  return row.median_seconds;
}

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> links_per_second(const BenchmarkTable& table, const BenchmarkRow& row) {
  return median_of(row) ? if_finite(table.elements_per_second(row)) : std::nullopt;
}

std::optional<double> bytes_per_second(const BenchmarkRow& row) {
  return median_of(row) ? if_finite(row.bytes_per_second()) : std::nullopt;
}

/// While text is read and parsed.
std::optional<double> stream_bytes_per_second(const BenchmarkRow& row) {
  if (!row.stream_seconds || !median_of(row)) return std::nullopt;
  return if_finite(static_cast<double>(row.bytes) / *row.stream_seconds);
}

// JSON and CSV: the same names, and nothing in the same places.

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
Json number(std::uint32_t value) {
  return value;
}
Json number(std::uint64_t value) {
  return value;
}

template <class Number>
Json number(const std::optional<Number>& value) {
  return value ? number(*value) : Json();
}

Json ceiling(double per_second) {
  return per_second > 0 ? number(per_second) : Json();
}

Json table_fields(const BenchmarkTable& table) {
  return {{"benchmark", table.benchmark},
          {"graph", table.graph},
          {"nodes", table.nodes},
          {"links", table.links},
          {"device", table.device},
          {"precision", table.precision},
          {"version", table.version},
          {"copy_bytes_per_second", ceiling(table.copy_bytes_per_second)},
          {"fma_flops_per_second", ceiling(table.fma_flops_per_second)},
          {"bus_bytes_per_second", ceiling(table.bus_bytes_per_second)}};
}

Json row_fields(const BenchmarkTable& table, const BenchmarkRow& row) {
  const auto measured = [&row](const auto& value) {
    return row.refusal.empty() ? number(value) : Json();
  };
  return {{"kernel", row.kernel},
          {"values", row.values},
          {"median_seconds", measured(row.median_seconds)},
          {"min_seconds", measured(row.min_seconds)},
          {"samples", measured(row.samples)},
          {"links_per_second", measured(links_per_second(table, row))},
          {"bytes", measured(row.bytes)},
          {"bytes_per_second", measured(bytes_per_second(row))},
          {"flops", measured(row.flops)},
          {"share_of_ceiling", measured(table.share_of_ceiling(row))},
          {"ratio_to_floor", measured(table.ratio_to_floor(row))},
          {"ratio_to_baseline", measured(table.ratio_to_baseline(row))},
          {"max_difference", measured(row.max_difference)},
          {"prepare_seconds", measured(row.prepare_seconds)},
          {"loop", row.loop.empty() ? Json() : Json(row.loop)},
          {"iterations", measured(row.iterations)},
          {"solve_seconds", measured(row.solve_seconds)},
          {"error_bound", measured(row.error_bound)},
          {"peak_bytes", measured(row.peak_bytes)},
          {"stream_seconds", measured(row.stream_seconds)},
          {"stream_bytes_per_second", measured(stream_bytes_per_second(row))},
          {"context_seconds", measured(row.context_seconds)},
          {"refusal", row.refusal.empty() ? Json() : Json(row.refusal)}};
}

constexpr std::string_view csv_columns[] = {"benchmark",
                                            "graph",
                                            "nodes",
                                            "links",
                                            "device",
                                            "precision",
                                            "kernel",
                                            "values",
                                            "median_seconds",
                                            "min_seconds",
                                            "samples",
                                            "links_per_second",
                                            "bytes",
                                            "bytes_per_second",
                                            "share_of_ceiling",
                                            "ratio_to_floor",
                                            "ratio_to_baseline",
                                            "max_difference",
                                            "prepare_seconds",
                                            "loop",
                                            "iterations",
                                            "solve_seconds",
                                            "error_bound",
                                            "peak_bytes",
                                            "stream_seconds",
                                            "stream_bytes_per_second",
                                            "context_seconds",
                                            "refusal"};

template <class... Format>
std::string digits_of(double value, Format... format) {
  char digits[512];  // DBL_MAX has 309 before the point
  const auto end = std::to_chars(digits, digits + sizeof digits, value, format...).ptr;
  return {digits, end};
}

/// RFC 4180, section 2: quoted where it must be, quotes doubled.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_text(value.get_ref<const std::string&>());
  if (value.is_number_float()) return digits_of(value.get<double>());
  return value.dump();
}

// The table for people.

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

/// A plain decimal where that is readable.
std::string significant(std::optional<double> value, int digits = 4) {
  if (!value || !std::isfinite(*value)) return "-";
  std::string scientific = digits_of(*value, std::chars_format::scientific, digits - 1);
  // Of the rounded number: 9.9999 is 10.00, not 10.000.
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < -6 || exponent > 8) return scientific;
  return digits_of(*value, std::chars_format::fixed, std::max(0, digits - 1 - exponent));
}

std::string scaled(std::optional<double> value, double scale, int digits = 4) {
  return significant(value ? std::optional(*value * scale) : std::nullopt, digits);
}

std::string magnitude(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "-";
  return *value == 0 ? "0" : digits_of(*value, std::chars_format::scientific, 1);
}

std::string ratio_text(std::optional<double> ratio) {
  return ratio ? digits_of(*ratio, std::chars_format::fixed, 2) + "x" : "-";
}

std::string bytes_a_link(const BenchmarkTable& table, std::uint64_t bytes) {
  if (table.links == 0) return "-";
  return significant(static_cast<double>(bytes) / static_cast<double>(table.links));
}

struct Column {
  std::string_view title;
  std::string (*cell)(const BenchmarkTable&, const BenchmarkRow&);
};

/// Whether it is about the way from text to matrix, not about kernels.
bool is_loading(const BenchmarkTable& table) {
  return table.benchmark == "load" || table.benchmark == "build";
}

/// The columns that a refused row has as well; aligned left.
std::vector<Column> name_columns(const BenchmarkTable& table) {
  using Table = BenchmarkTable;
  using Row = BenchmarkRow;
  std::vector<Column> columns = {
      {"kernel", [](const Table&, const Row& row) { return one_line(row.kernel); }}};
  if (table.benchmark != "reduce" && !is_loading(table)) {
    columns.push_back({"values", [](const Table&, const Row& row) {
                         return std::string(row.values ? "yes" : "no");
                       }});
  }
  return columns;
}

/// Aligned right.
std::vector<Column> number_columns(const BenchmarkTable& table) {
  using Table = BenchmarkTable;
  using Row = BenchmarkRow;
  const bool reduce = table.benchmark == "reduce";
  std::vector<Column> columns = {
      {"ms", [](const Table&, const Row& row) { return scaled(row.median_seconds, 1e3); }},
      {"ms min", [](const Table&, const Row& row) { return scaled(row.min_seconds, 1e3); }},
      {reduce ? "Gelem/s" : "Glinks/s",
       [](const Table& t, const Row& row) { return scaled(links_per_second(t, row), 1e-9); }},
      {"GB/s", [](const Table&, const Row& row) { return scaled(bytes_per_second(row), 1e-9); }},
      {"% of ceiling",
       [](const Table& t, const Row& row) { return scaled(t.share_of_ceiling(row), 100, 3); }}};
  if (is_loading(table)) {
    if (table.benchmark == "load") {
      columns.push_back({"vs count", [](const Table& t, const Row& row) {
                           return ratio_text(t.ratio_to_baseline(row));
                         }});
    }
    columns.push_back({"peak B/link", [](const Table& t, const Row& row) {
                         return row.peak_bytes ? bytes_a_link(t, *row.peak_bytes) : "-";
                       }});
    if (table.bus_bytes_per_second > 0) {
      columns.insert(columns.end(),
                     {{"stream ms", [](const Table&,
                                       const Row& row) { return scaled(row.stream_seconds, 1e3); }},
                      {"stream GB/s",
                       [](const Table&, const Row& row) {
                         return scaled(stream_bytes_per_second(row), 1e-9);
                       }},
                      {"context ms", [](const Table&, const Row& row) {
                         return scaled(row.context_seconds, 1e3);
                       }}});
    }
    return columns;
  }
  columns.insert(
      columns.end(),
      {{reduce ? "vs cuBLAS" : "vs cuSPARSE",
        [](const Table& t, const Row& row) { return ratio_text(t.ratio_to_baseline(row)); }},
       {"difference", [](const Table&, const Row& row) { return magnitude(row.max_difference); }}});
  if (table.benchmark == "solve") {
    columns.insert(
        columns.end(),
        {{"B/link", [](const Table& t, const Row& row) { return bytes_a_link(t, row.bytes); }},
         {"vs floor",
          [](const Table& t, const Row& row) { return ratio_text(t.ratio_to_floor(row)); }},
         {"prepare ms",
          [](const Table&, const Row& row) { return scaled(row.prepare_seconds, 1e3); }},
         {"iterations",
          [](const Table&, const Row& row) {
            return row.iterations ? std::to_string(*row.iterations) : std::string("-");
          }},
         {"solve ms", [](const Table&, const Row& row) { return scaled(row.solve_seconds, 1e3); }},
         {"error bound", [](const Table&, const Row& row) { return magnitude(row.error_bound); }}});
  }
  return columns;
}

void write_headings(std::ostream& out, const BenchmarkTable& table) {
  out << table.benchmark << ' ' << one_line(table.graph) << ": ";
  if (table.benchmark == "reduce") {
    out << std::to_string(table.links) << " elements\n";
  } else {
    out << std::to_string(table.nodes) << " nodes, " << std::to_string(table.links) << " links\n";
  }
  out << one_line(table.device) << ", " << table.precision;
  if (table.copy_bytes_per_second > 0) {
    const bool compressed = !table.rows.empty() && table.rows.front().kernel == "decompress";
    out << (compressed                   ? ", decompressed "
            : table.benchmark == "load"  ? ", file "
            : table.benchmark == "build" ? ", memory "
                                         : ", copy ")
        << scaled(table.copy_bytes_per_second, 1e-9) << " GB/s";
  }
  if (table.bus_bytes_per_second > 0) {
    out << ", bus " << scaled(table.bus_bytes_per_second, 1e-9) << " GB/s";
  }
  if (table.fma_flops_per_second > 0) {
    out << ", FMA " << scaled(table.fma_flops_per_second, 1e-9) << " Gflop/s";
  }
  out << '\n';
}

}  // namespace

std::optional<double> BenchmarkTable::baseline_seconds() const {
  const std::string_view library = benchmark == "reduce" ? "cublas"
                                   : benchmark == "load" ? "count lines"
                                                         : "cusparse";
  std::optional<double> fastest;
  for (const BenchmarkRow& row : rows) {
    if (!row.kernel.starts_with(library)) continue;
    const std::optional<double> median = median_of(row);
    if (median && (!fastest || *median < *fastest)) fastest = median;
  }
  return fastest;
}

std::optional<double> BenchmarkTable::ratio_to_baseline(const BenchmarkRow& row) const {
  const std::optional<double> baseline = baseline_seconds();
  const std::optional<double> median = median_of(row);
  return baseline && median ? if_finite(*baseline / *median) : std::nullopt;
}

std::optional<double> BenchmarkTable::share_of_ceiling(const BenchmarkRow& row) const {
  if (row.over_bus) {
    const std::optional<double> rate =
        row.stream_seconds ? stream_bytes_per_second(row) : io::bytes_per_second(row);
    return rate && bus_bytes_per_second > 0 ? if_finite(*rate / bus_bytes_per_second)
                                            : std::nullopt;
  }
  const std::optional<double> rate = io::bytes_per_second(row);
  const double ceiling = row.on_host ? row.ceiling_bytes_per_second : copy_bytes_per_second;
  return rate && ceiling > 0 ? if_finite(*rate / ceiling) : std::nullopt;
}

std::optional<double> BenchmarkTable::ratio_to_floor(const BenchmarkRow& row) const {
  if (benchmark != "solve") return std::nullopt;
  constexpr double link_bytes = 4, node_bytes = 12;
  const double bytes = static_cast<double>(links) * link_bytes +
                       (row.on_host ? 0 : static_cast<double>(nodes) * node_bytes);
  const double ceiling = row.on_host ? row.ceiling_bytes_per_second : copy_bytes_per_second;
  const std::optional<double> median = median_of(row);
  return median && ceiling > 0 ? if_finite(*median * ceiling / bytes) : std::nullopt;
}

void write_benchmark_text(std::ostream& out, const BenchmarkTable& table) {
  write_headings(out, table);
  const std::vector<Column> names = name_columns(table);
  const std::vector<Column> numbers = number_columns(table);

  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : names) lines[0].emplace_back(column.title);
  for (const Column& column : numbers) lines[0].emplace_back(column.title);
  for (const BenchmarkRow& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Column& column : names) line.push_back(column.cell(table, row));
    if (!row.refusal.empty()) continue;
    for (const Column& column : numbers) line.push_back(column.cell(table, row));
  }

  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (std::size_t place = 0; place < lines.size(); ++place) {
    const std::vector<std::string>& line = lines[place];
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      out << (i > 0 ? "  " : "") << (i < names.size() ? line[i] + padding : padding + line[i]);
    }
    if (place > 0 && !table.rows[place - 1].refusal.empty()) {
      out << "  " << one_line(table.rows[place - 1].refusal);
    }
    out << '\n';
  }
}

void write_benchmark_csv(std::ostream& out, const std::vector<BenchmarkTable>& tables) {
  const auto write_line = [&out](const auto& field_of) {
    std::string_view separator;
    for (const std::string_view column : csv_columns) {
      out << separator << field_of(std::string(column));
      separator = ",";
    }
    out << '\n';
  };
  write_line([](const std::string& column) { return column; });
  for (const BenchmarkTable& table : tables) {
    const Json shared = table_fields(table);
    for (const BenchmarkRow& row : table.rows) {
      const Json own = row_fields(table, row);
      write_line([&](const std::string& column) {
        return csv_field(shared.contains(column) ? shared.at(column) : own.at(column));
      });
    }
  }
}

void write_benchmark_json(std::ostream& out, const std::vector<BenchmarkTable>& tables) {
  Json all = Json::array();
  for (const BenchmarkTable& table : tables) {
    Json rows = Json::array();
    for (const BenchmarkRow& row : table.rows) rows.push_back(row_fields(table, row));
    Json fields = table_fields(table);
    fields["rows"] = std::move(rows);
    all.push_back(std::move(fields));
  }
  Json json;
  json["schema_version"] = 1;
  json["tables"] = std::move(all);
  // Paths are bytes; JSON is UTF-8: replace what is not.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace pagerank::io
