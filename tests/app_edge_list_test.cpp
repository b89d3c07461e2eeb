// Edge lists as the program's users meet them.
#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

/// The links of a general Matrix Market file as an edge list, node i called a * i + b.
std::string as_edge_list(const std::string& matrix_market, std::uint64_t a, std::uint64_t b) {
  std::istringstream lines(matrix_market);
  std::string text = "# Directed graph\r\n# FromNodeId\tToNodeId\r\n", line;
  bool size_line = true;
  while (std::getline(lines, line)) {
    if (line.starts_with('%')) continue;
    if (!std::exchange(size_line, false)) {
      std::istringstream fields(line);
      std::uint64_t from = 0, to = 0;
      fields >> from >> to;
      text += std::to_string(a * from + b) + '\t' + std::to_string(a * to + b) + "\r\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a graph ranks the same from a Matrix Market file and from an edge list") {
  // Strongly connected: every node has a link, and so occurs in an edge list.
  const fs::path graph = source_dir() / "tests/data/graphs/cs-stanford-scc.mtx";
  const std::string text = read_file(graph);
  const TemporaryDirectory files;
  const std::string path = (files / "graph.txt").string();
  for (const char* source : {"row", "column"}) {
    const std::vector<std::string> options = {"--engine", "cpu",      "--top", "5000",
                                              "--quiet",  "--source", source};
    const auto ranked = [&](const std::string& file) {
      std::vector<std::string> arguments = options;
      arguments.insert(arguments.begin(), file);
      const RunResult run = run_pagerank(arguments);
      CHECK(run.status == 0);
      return run.out;
    };
    const std::string expected = ranked(graph.string());
    write_file(path, as_edge_list(text, 1, 0));
    CHECK(ranked(path) == expected);
    write_gzip_file(path + ".gz", as_edge_list(text, 1, 0));
    CHECK(ranked(path + ".gz") == expected);

    // Other names, in the same order: the same scores of the same nodes.
    for (const std::uint64_t factor : {std::uint64_t{2}, std::uint64_t{1'000'000'007'000}}) {
      write_file(path, as_edge_list(text, factor, 12'345'678'901));
      std::istringstream rows(ranked(path)), expected_rows(expected);
      std::string row, expected_row;
      std::getline(expected_rows, expected_row);
      std::getline(rows, row);
      CHECK(row == expected_row);
      bool same = true;
      std::uint64_t rank = 0, node = 0, place = 0, label = 0;
      std::string score, labelled_score;
      while (expected_rows >> rank >> node >> score) {
        same = same && rows >> place >> label >> labelled_score && place == rank &&
               label == factor * node + 12'345'678'901 && labelled_score == score;
      }
      CHECK(same);
      CHECK(rank > 2000);
      CHECK((rows >> place).fail());
    }
  }
}

TEST_CASE("the nodes of an edge list are called by their ids wherever they show") {
  const std::string graph =
      (source_dir() / "tests/data/edge_lists/valid/snap_header_tabs.txt").string();
  const TemporaryDirectory files;
  const RunResult run =
      run_pagerank({graph, "--engine", "cpu", "--output", (files / "s.npy").string(), "--report",
                    (files / "r.json").string()});
  CHECK(run.status == 0);
  CHECK(has(run.err, "5 nodes called 3 to 3352, 6 entries, 6 links, 0 dangling nodes; row index"));
  std::set<std::string> nodes;
  std::istringstream rows(run.out.substr(run.out.find('\n')));
  for (std::string rank, node, score; rows >> rank >> node >> score;) nodes.insert(node);
  CHECK(nodes == std::set<std::string>{"3", "30", "54", "1412", "3352"});
  CHECK(has(read_file(files / "s.npy"), "('node', '<u8')"));
  const auto report = nlohmann::json::parse(read_file(files / "r.json"));
  CHECK(report["graph"]["format"] == "edges");
  CHECK(report["graph"]["nodes"] == 5);
  CHECK(report["graph"]["smallest_node"] == 3);
  CHECK(report["graph"]["largest_node"] == 3352);
  for (const char* name : {"s.csv", "s.tsv", "s.json", "s.mtx"}) {
    CHECK(run_pagerank({graph, "--engine", "cpu", "--output", (files / name).string()}).status ==
          0);
    CHECK(has(read_file(files / name), "1412"));
    CHECK(has(read_file(files / name), "3352"));
  }

  const RunResult dangling =
      run_pagerank({"-", "--input-format", "edges", "--dangling", "error", "--engine", "cpu"},
                   "70 900\n900 5000000000\n70 80\n");
  CHECK(dangling.status == 3);
  CHECK(has(dangling.err, "the graph has 2 dangling nodes"));
  CHECK(has(dangling.err, "the first is node 80\n"));
}

TEST_CASE("an edge list on standard input is told by its comments, or by --input-format") {
  const std::string links = "10\t20\n20\t10\n10\t30\n30\t10\n";
  const RunResult told = run_pagerank({"-", "--engine", "cpu"}, "# FromNodeId\tToNodeId\n" + links);
  CHECK(told.status == 0);
  CHECK(lines_of(told.out).at(1).rfind("1\t10\t", 0) == 0);
  CHECK(run_pagerank({"-", "--input-format", "edges", "--engine", "cpu"}, links).out == told.out);
  const RunResult neither = run_pagerank({"-", "--engine", "cpu"}, links);
  CHECK(neither.status == 3);
  CHECK(has(neither.err, "<stdin>:1: expected the banner"));
  CHECK(has(neither.err, "an edge list needs --input-format edges"));
  // A damaged banner says what it is.
  const RunResult damaged = run_pagerank(
      {"-", "--engine", "cpu"}, "%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  CHECK(damaged.status == 3);
  CHECK(has(damaged.err, "<stdin>:1: expected the banner"));
  CHECK_FALSE(has(damaged.err, "--input-format"));
  CHECK(run_pagerank({data("four.mtx"), "--input-format", "edges"}).status == 3);
}

TEST_CASE("a bad line of an edge list is refused with file and line, exit 3") {
  const std::string graph =
      (source_dir() / "tests/data/edge_lists/invalid/missing_weight.txt").string();
  const RunResult run = run_pagerank({graph});
  CHECK(run.status == 3);
  CHECK(run.out.empty());
  CHECK(has(run.err, "missing_weight.txt:4: expected a weight: the first link has one"));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
