#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support.hpp"

/// What tests of the program ask of its text.
namespace pagerank::tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool measure_memory = false;  // the sanitizer's own memory would be measured
#else
inline constexpr bool measure_memory = true;
#endif

/// A graph that the project carries.
[[nodiscard]] inline std::string data(const std::string& name) {
  return (source_dir() / "data" / name).string();
}

[[nodiscard]] inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The report of a run that has to succeed.
[[nodiscard]] inline nlohmann::json report_of(std::vector<std::string> arguments) {
  const TemporaryDirectory files;
  const fs::path path = files / "report.json";
  arguments.insert(arguments.end(), {"--report", path.string()});
  CHECK(run_pagerank(arguments).status == 0);
  return nlohmann::json::parse(read_file(path));
}

/// Of a report's `seconds`, all that `total` is made of.
[[nodiscard]] inline double sum_of_phases(const nlohmann::json& seconds) {
  double sum = 0;
  for (const char* const phase : {"read", "build", "cache", "upload", "solve", "rank", "write"}) {
    sum += seconds[phase].get<double>();
  }
  return sum;
}

}  // namespace pagerank::tests
