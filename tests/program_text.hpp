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

}  // namespace pagerank::tests
