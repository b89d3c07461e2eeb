#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/benchmark_report.hpp"

/// Tables of benchmarks as their writers get them, and readers of what these write.
namespace pagerank::tests {

using Json = nlohmann::json;
using Tables = std::vector<io::BenchmarkTable>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

[[nodiscard]] io::BenchmarkRow make_row(const std::string& kernel, bool values, double median);
/// With numbers that nobody should see.
[[nodiscard]] io::BenchmarkRow make_refused(const std::string& kernel, const std::string& refusal);
[[nodiscard]] io::BenchmarkTable make_table(const std::string& benchmark,
                                            std::vector<io::BenchmarkRow> rows);
[[nodiscard]] io::BenchmarkTable spmv_table();
/// A file of a gigabyte, read by the host and over a bus of 50 GB/s.
[[nodiscard]] io::BenchmarkTable load_table();

[[nodiscard]] std::string text_of(const io::BenchmarkTable& table);
[[nodiscard]] std::string csv_of(const Tables& tables);
[[nodiscard]] Json json_of(const Tables& tables);
[[nodiscard]] std::string svg_of(const Tables& tables);

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
/// By RFC 4180.
[[nodiscard]] std::vector<std::vector<std::string>> csv_records(const std::string& csv);
[[nodiscard]] std::string csv_field(const std::vector<std::vector<std::string>>& records,
                                    std::size_t line, const std::string& column);
[[nodiscard]] std::size_t count(const std::string& text, const std::string& piece);
/// What any SVG of ours must be: well-formed, UTF-8, and without scripts.
void check_svg(const std::string& svg);

}  // namespace pagerank::tests
