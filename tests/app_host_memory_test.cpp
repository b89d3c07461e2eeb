// How much memory a whole run takes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "app/host_memory.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

/// What does not grow with the graph.
constexpr std::uint64_t buffers = 4 << 20;
/// And of edge lists: what the heap keeps of the arrays in which a piece's labels were looked up.
constexpr std::uint64_t label_buffers = 8 << 20;

/// Bytes of resident memory at the peak of a run. "-" is what lies in `input`.
std::uint64_t peak_of_one_run(const std::string& graph, const std::string& input = "/dev/null",
                              int threads = 2, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      graph, "--engine", "cpu", "--top", "0", "--threads", std::to_string(threads)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult run = run_program_on("pagerank", arguments, input);
  CHECK(run.status == 0);
  return run.peak_bytes;
}

/// The median of three: by two threads some runs in a hundred have a few huge pages more at the end
/// of their reading, 6 to 12 MB (docs/performance.md).
std::uint64_t peak_of(const std::string& graph, const std::string& input = "/dev/null",
                      int threads = 2, const std::vector<std::string>& more = {}) {
  std::array<std::uint64_t, 3> peaks = {};
  for (std::uint64_t& peak : peaks) peak = peak_of_one_run(graph, input, threads, more);
  std::sort(peaks.begin(), peaks.end());
  return peaks[1];
}

/// The same of a graph of a few nodes.
std::uint64_t peak_without_graph() {
  std::uint64_t peak = 0;  // a run so short may end between two looks at it
  for (int run = 0; run < 25; ++run) peak = std::max(peak, peak_of_one_run(data("karate.mtx")));
  return peak;
}

/// Bytes of the graph's matrix in CSR form.
std::uint64_t bytes_of_matrix(const std::string& file) {
  const nlohmann::json graph = report_of({file, "--engine", "cpu", "--tolerance", "1"})["graph"];
  return (graph["weighted"].get<bool>() ? graph["links"].get<std::uint64_t>() * 12
                                        : graph["entries"].get<std::uint64_t>() * 4) +
         graph["nodes"].get<std::uint64_t>() * 8;
}

/// The entries of Matrix Market text as an edge list, in which node n is called n * factor modulo
/// 2^64.
std::string as_edge_list(const std::string& matrix, std::uint64_t factor) {
  std::string edges;
  edges.reserve(matrix.size() * 4);
  std::size_t at = matrix.find('\n') + 1;
  while (matrix[at] == '%') at = matrix.find('\n', at) + 1;
  at = matrix.find('\n', at) + 1;  // behind the sizes
  while (at < matrix.size()) {
    char* rest = nullptr;
    const std::uint64_t row = std::strtoull(matrix.data() + at, &rest, 10);
    const std::uint64_t column = std::strtoull(rest, &rest, 10);
    const std::size_t end = matrix.find('\n', at);
    edges += std::to_string(row * factor) + '\t' + std::to_string(column * factor);
    const auto parsed = static_cast<std::size_t>(rest - matrix.data());
    edges.append(matrix, parsed, end + 1 - parsed);  // a weight, perhaps
    at = end + 1;
  }
  return edges;
}

}  // namespace

TEST_CASE("a run takes at most 2.5 times the matrix, from a file, a compressed one and a stream") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string(), compressed = (files / "g.mtx.gz").string();
  const std::uint64_t program = peak_without_graph();
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const std::string recipe = std::string("rmat:18x16") + (weighted ? ":weighted" : "");
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    write_gzip_file(compressed, read_file(file));
    const std::uint64_t matrix = bytes_of_matrix(file);
    for (const std::string& read : {file, compressed, std::string("-")}) {
      CAPTURE(read);
      const std::uint64_t peak = peak_of(read, file);
      CHECK(peak > program + matrix);
      CHECK(peak - program <= matrix * 5 / 2 + buffers);
    }
  }
}

TEST_CASE("so does one from an edge list, with ids of 32 bits and of 64") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string(), edges = (files / "g.txt").string(),
                    compressed = edges + ".gz";
  const std::uint64_t program = peak_without_graph();
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const std::string recipe = std::string("rmat:18x16") + (weighted ? ":weighted" : "");
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    const std::string text = read_file(file);
    for (const std::uint64_t factor :
         {std::uint64_t{3}, std::uint64_t{9973}, std::uint64_t{0x9E3779B97F4A7C15}}) {
      CAPTURE(factor);
      write_file(edges, as_edge_list(text, factor));
      const std::uint64_t matrix = bytes_of_matrix(edges), peak = peak_of(edges);
      CHECK(peak > program + matrix);
      CHECK(peak - program <= matrix * 5 / 2 + buffers + label_buffers);
      if (weighted || factor == 3) continue;
      write_gzip_file(compressed, read_file(edges));
      CHECK(peak_of(compressed) - program <= matrix * 5 / 2 + buffers + label_buffers);
    }
  }
}

TEST_CASE("and one of a graph with few links a node, in a layout of its own") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  const std::uint64_t program = peak_without_graph();
  for (const char* const recipe : {"uniform:21x4", "rmat:22x4"}) {
    CAPTURE(recipe);
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    const std::uint64_t matrix = bytes_of_matrix(file), peak = peak_of(file);
    CHECK(peak > program + matrix);
    CHECK(peak - program <= matrix * 5 / 2 + buffers);
  }
}

TEST_CASE("and one that writes the scores of all nodes by rank") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string(), scores = (files / "scores.tsv").string();
  const std::uint64_t program = peak_without_graph();
  REQUIRE(run_program("pagerank-bench", {"--write", file, "uniform:21x4"}).status == 0);
  const std::uint64_t matrix = bytes_of_matrix(file);
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    const std::uint64_t peak = peak_of(file, "/dev/null", threads, {"--output", scores});
    CHECK(peak > program + matrix);
    CHECK(peak - program <= matrix * 5 / 2 + buffers);
  }
}

TEST_CASE("and one of a graph whose links all come from a few sources") {
  if (!measure_memory) return;
  constexpr std::uint64_t nodes = 1 << 18, links = 1 << 22;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(nodes) +
                     ' ' + std::to_string(nodes) + ' ' + std::to_string(links) + '\n';
  text.reserve(links * 11);
  std::mt19937_64 random(43);
  for (std::uint64_t link = 0; link < links; ++link) {
    text += std::to_string(1 + random() % 64) + ' ' + std::to_string(1 + random() % nodes) + '\n';
  }
  write_file(file, text);
  text = {};
  const std::uint64_t program = peak_without_graph(), matrix = bytes_of_matrix(file);
  for (const int threads : {1, 2, 8}) {
    CAPTURE(threads);
    CHECK(peak_of(file, "/dev/null", threads) - program <=
          matrix * 5 / 2 + buffers * (1 + static_cast<std::uint64_t>(threads)) / 2);
  }
}

TEST_CASE("and one by many threads, but for what each of them gathers") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  REQUIRE(run_program("pagerank-bench", {"--write", file, "rmat:19x16"}).status == 0);
  const std::uint64_t program = peak_without_graph(), matrix = bytes_of_matrix(file);
  constexpr int threads = 32;
  constexpr std::uint64_t of_each = 3 << 18;  // no more than 2^17 links, and tables
  CHECK(peak_of(file, "/dev/null", threads) - program <=
        matrix * 5 / 2 + buffers + threads * of_each);
}

TEST_CASE("memory of links to and from hubs is free again before many threads are through") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  REQUIRE(run_program("pagerank-bench", {"--write", file, "rmat:20x16"}).status == 0);
  const std::uint64_t program = peak_without_graph(), matrix = bytes_of_matrix(file);
  // By how the system has threads take turns it varies by a sixth. On two cores the least of a few
  // runs is 1.7 to 1.9 times the matrix, of bins that are not cut 1.9 to 2.2.
  std::uint64_t peak = peak_of_one_run(file, "/dev/null", 6);
  for (int run = 0; run < 5; ++run) peak = std::min(peak, peak_of_one_run(file, "/dev/null", 6));
  CHECK(peak > program + matrix);
  CHECK(peak - program <= matrix * 19 / 10);
}

TEST_CASE("and one of few nodes with very many links, by two threads") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  const std::uint64_t program = peak_without_graph();
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const std::string recipe = weighted ? "uniform:11x2048:weighted" : "uniform:11x4096";
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    // With weights, links that are there again: not in the matrix, but in the text.
    const std::uint64_t held = weighted ? std::uint64_t{12} << 22 : bytes_of_matrix(file);
    CHECK(peak_of(file, "/dev/null", 2) - program <= held * 5 / 2 + buffers);
  }
}

TEST_CASE("what a graph is refused for is about what it takes") {
  if (!measure_memory) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string();
  const std::uint64_t program = peak_without_graph();
  for (const char* const recipe : {"rmat:19x16", "uniform:20x4", "rmat:18x16:weighted"}) {
    CAPTURE(recipe);
    REQUIRE(run_program("pagerank-bench", {"--write", file, recipe}).status == 0);
    const nlohmann::json graph = report_of({file, "--engine", "cpu", "--tolerance", "1"})["graph"];
    const auto links = graph["entries"].get<std::uint64_t>();
    const bool weighted = graph["weighted"].get<bool>();
    const std::uint64_t expected =
        links * (weighted ? 12 : 4) +
        app::bytes_to_rank(graph["nodes"].get<std::uint64_t>(), links, weighted);
    const std::uint64_t taken = peak_of(file, "/dev/null", 2) - program;
    CHECK(taken <= expected + expected / 10 + buffers);
    CHECK(expected <= taken + taken / 2);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
