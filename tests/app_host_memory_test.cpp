// How much memory a whole run takes.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

/// What does not grow with the graph.
constexpr std::uint64_t buffers = 4 << 20;

TEST_CASE("a run takes at most 2.5 times the matrix, from a file, a compressed one and a stream") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string(), compressed = (files / "g.mtx.gz").string();
  const auto peak_of = [&](const std::string& graph) {
    const RunResult run = run_program_on(
        "pagerank", {graph, "--engine", "cpu", "--top", "0", "--threads", "1"}, file);
    CHECK(run.status == 0);
    return run.peak_bytes;
  };
  write_file(file, read_file(data("karate.mtx")));
  const std::uint64_t program = peak_of(file);
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const std::string recipe = std::string("rmat:18x16") + (weighted ? ":weighted" : "");
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    write_gzip_file(compressed, read_file(file));
    const nlohmann::json graph = report_of({file, "--engine", "cpu"})["graph"];
    const std::uint64_t matrix = (weighted ? graph["links"].get<std::uint64_t>() * 12
                                           : graph["entries"].get<std::uint64_t>() * 4) +
                                 graph["nodes"].get<std::uint64_t>() * 8;
    for (const std::string& read : {file, compressed, std::string("-")}) {
      CAPTURE(read);
      const std::uint64_t peak = peak_of(read);
      CHECK(peak > program + matrix);
      CHECK(peak - program <= matrix * 5 / 2 + buffers);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
