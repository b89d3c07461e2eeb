#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support.hpp"

namespace pagerank::tests {

/// A directory with a graph in it, and how runs of the program on it went.
class Workplace {
 public:
  Workplace() { write_graph(read_file(source_dir() / "data/karate.mtx")); }

  void write_graph(const std::string& text) const { write_file(path(), text); }
  [[nodiscard]] fs::path path() const { return files_ / "g.mtx"; }
  [[nodiscard]] fs::path cache() const { return files_ / "g.mtx.prgraph"; }
  [[nodiscard]] fs::path operator/(const std::string& name) const { return files_ / name; }

  [[nodiscard]] RunResult run(std::vector<std::string> options = {"--cache"}) const {
    options.insert(options.end(), {path().string(), "--engine", "cpu", "--top", "99"});
    return run_pagerank(options);
  }

  /// Names of all files.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(files_.path())) {
      names.push_back(file.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  TemporaryDirectory files_;
};

}  // namespace pagerank::tests
