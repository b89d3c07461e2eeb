// Where the program writes its results, and what it makes of places that cannot take them.
#include <doctest/doctest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

TEST_CASE("--output holds all nodes, and agrees with the table") {
  const TemporaryDirectory files;
  const RunResult run =
      run_pagerank({data("karate.mtx"), "--top", "34", "--output", (files / "s.tsv").string()});
  CHECK(run.status == 0);
  CHECK(read_file(files / "s.tsv") == run.out);
  CHECK(run_pagerank({data("karate.mtx"), "--top", "2", "--output", (files / "s.json").string()})
            .status == 0);
  CHECK(nlohmann::json::parse(read_file(files / "s.json")).size() == 34);
  CHECK(run_pagerank({data("karate.mtx"), "--output", (files / "s.mtx").string()}).status == 0);
  CHECK(has(read_file(files / "s.mtx"), "\n34 1\n0.0969972"));
  CHECK(has(read_file(files / "s.mtx"), "% converged after "));
}

TEST_CASE("two runs of the program write the same bytes, whatever the number of threads") {
  const TemporaryDirectory files;
  const std::string graph = (files / "graph.mtx").string();
  REQUIRE(run_program("pagerank-bench", {"--write", graph, "rmat:17x8:scramble:weighted"}).status ==
          0);
  std::vector<std::vector<std::string>> engines = {{"--engine", "cpu"}};
  int runs = 0;  // each has a file of its own
  if (has_gpu()) {
    for (const char* kernel : {"auto", "balanced", "blocked"}) {
      engines.push_back({"--engine", "gpu", "--kernel", kernel});
    }
  }
  for (const std::vector<std::string>& engine : engines) {
    CAPTURE(engine.back());
    for (const char* precision : {"double", "mixed", "float"}) {
      CAPTURE(precision);
      const auto scores_of_run = [&](const char* threads) {
        const std::string scores = (files / (std::to_string(++runs) + ".npy")).string();
        std::vector<std::string> arguments = {graph,         "--quiet", "--top",       "0",
                                              "--output",    scores,    "--threads",   threads,
                                              "--precision", precision, "--tolerance", "1e-6"};
        arguments.insert(arguments.end(), engine.begin(), engine.end());
        REQUIRE(run_pagerank(arguments).status == 0);
        return read_file(scores);
      };
      const std::string first = scores_of_run("2");
      CHECK(first.size() > sizeof(double) << 17);
      CHECK(scores_of_run("2") == first);
      CHECK(scores_of_run("5") == first);
    }
  }
}

TEST_CASE("a result that cannot be written exits 1") {
  const RunResult run =
      run_pagerank({data("karate.mtx"), "--output", "/dev/full", "--format", "tsv"});
  CHECK(run.status == 1);
  CHECK(has(run.err, "/dev/full"));
}

TEST_CASE("who stops reading the table keeps neither reports nor other graphs from being written") {
  const TemporaryDirectory files;
  const auto run_into_head = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"-c",       "{ \"$@\"; echo status $? >&2; } | head -n 1",
                                          "sh",       path_of_program("pagerank"),
                                          "--engine", "cpu",
                                          "--top",    "10000"};  // more than a pipe holds
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program("/bin/sh", arguments);
  };
  const std::string report = (files / "report.json").string();
  const RunResult one = run_into_head({data("wiki-Vote.mtx.gz"), "--report", report});
  CHECK(has(one.out, "rank\tnode\tscore"));
  CHECK(has(one.err, "cannot write the table to standard output"));
  CHECK(has(one.err, "status 1\n"));
  CHECK(has(read_file(report), "\"converged\": true"));

  const RunResult batch = run_into_head(
      {data("wiki-Vote.mtx.gz"), data("karate.mtx"), "--output-dir", files.path().string()});
  CHECK(has(batch.err, "status 1\n"));
  CHECK(lines_of(read_file(files / "wiki-Vote.tsv")).size() > 7000);
  CHECK(lines_of(read_file(files / "karate.tsv")).size() == 35);

  const RunResult tables = run_into_head({data("wiki-Vote.mtx.gz"), data("karate.mtx")});
  CHECK(has(tables.err, "status 1\n"));
  CHECK_FALSE(has(tables.err, "karate"));  // there is nothing to rank it for
}

TEST_CASE("a result larger than a file may be exits 1 and leaves no part of it") {
  const TemporaryDirectory files;
  for (const std::string format : {"tsv", "npy"}) {
    const RunResult run =
        run_program("/bin/sh", {"-c", "ulimit -f 2; exec \"$@\"", "sh", path_of_program("pagerank"),
                                data("wiki-Vote.mtx.gz"), "--engine", "cpu", "--output",
                                (files / "scores").string(), "--format", format});
    CHECK(run.status == 1);
    CHECK(has(run.err, "File too large"));
    CHECK(fs::is_empty(files.path()));
  }
}

TEST_CASE("output through /dev/stdout adds to what is there") {
  const RunResult run =
      run_pagerank({data("four.mtx"), "--top", "0", "--output", "/dev/stdout", "--format", "csv"});
  CHECK(run.status == 0);
  CHECK(lines_of(run.out).size() == 5);
}

TEST_CASE("no result may overwrite another graph of the batch") {
  const TemporaryDirectory files;
  fs::create_directory(files / "x");
  fs::create_directory(files / "y");
  const std::string other = (files / "x" / "a.csv").string();
  write_file(other, "1 2\n2 3\n3 1\n");
  write_file(files / "y" / "a.mtx", "1 2\n2 1\n");
  const RunResult run =
      run_pagerank({(files / "y" / "a.mtx").string(), other, "--input-format", "edges",
                    "--output-dir", (files / "x").string(), "--format", "csv"});
  CHECK(run.status == 2);
  CHECK(read_file(other) == "1 2\n2 3\n3 1\n");
}

TEST_CASE("a file in memory is written like any other, not appended to") {
  if (!fs::is_directory("/dev/shm")) return;
  const std::string output = "/dev/shm/pagerank-test-" + std::to_string(getpid()) + ".json";
  const std::string graph = (source_dir() / "data" / "four.mtx").string();
  for (int run = 0; run < 2; ++run) {
    CHECK(run_pagerank({graph, "--engine", "cpu", "--top", "0", "--report", output}).status == 0);
  }
  CHECK(nlohmann::json::accept(read_file(output)));
  fs::remove(output);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
