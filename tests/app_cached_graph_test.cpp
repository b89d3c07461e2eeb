// What a .prgraph file is taken for: a graph by itself, or that of a text in one format.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "io/graph_cache.hpp"
#include "tests/cache_workplace.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

TEST_CASE("a graph cache may be given as GRAPH") {
  const Workplace place;
  REQUIRE(place.run({"--cache", "--source", "column"}).status == 0);
  const std::string expected = place.run({"--source", "column"}).out;
  const std::string cache = place.cache().string();
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--engine", "cpu", "--top", "99"});
    return run_pagerank(arguments);
  };
  SUBCASE("it says how it was read, and no source is needed") {
    fs::remove(place.path());
    const RunResult result = run({cache});
    CHECK(result.status == 0);
    CHECK(result.out == expected);
    CHECK(has(result.err, "column index is the source"));
    CHECK(has(result.err, "; a graph cache"));
    CHECK(run({cache, "--source", "column"}).out == expected);
    CHECK(run({cache, "--cache"}).out == expected);
    fs::rename(cache, place / "renamed");
    CHECK(run({(place / "renamed").string()}).out == expected);
  }
  SUBCASE("options that contradict it are bad usage") {
    const RunResult result = run({cache, "--source", "row"});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, cache + ": this graph cache was made with --source column, which "
                                  "--source contradicts"));
  }
  SUBCASE("damaged, it is bad input") {
    const std::string bytes = read_file(cache);
    std::string changed = bytes;
    changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] ^ 4);
    write_file(cache, changed);
    RunResult result = run({cache});
    CHECK(result.status == 3);
    CHECK(has(result.err, cache + ": damaged graph cache: "));
    write_file(cache, bytes.substr(0, 100));
    result = run({cache});
    CHECK(result.status == 3);
    CHECK(has(result.err, cache + ": damaged graph cache: shorter than a header"));
    write_file(cache, read_file(place.path()));
    CHECK(has(run({cache}).err, cache + ": not a graph cache"));
    CHECK(run({(place / "none.prgraph").string()}).status == 3);
  }
  SUBCASE("its scores go to a file named after the graph") {
    CHECK(run({cache, "--output-dir", place.path().parent_path().string()}).status == 0);
    CHECK(fs::exists(place / "g.tsv"));
  }
  SUBCASE("pagerank-bench loads it") {
    const std::string report = (place / "r.json").string();
    const auto rows_of = [&](const std::string& graph) {
      CHECK(run_program("pagerank-bench", {"load", graph, "--source", "column", "--seconds",
                                           "0.001", "--json", report})
                .status == 0);
      return nlohmann::json::parse(read_file(report))["tables"][0]["rows"];
    };
    const auto rows = rows_of(cache);
    CHECK(rows.size() == 3);
    CHECK(rows[2]["kernel"] == "load");
    CHECK(rows[2]["bytes"] == fs::file_size(cache));
    const auto both = rows_of(place.path().string());
    REQUIRE(both.size() == 5);
    CHECK(both[4]["kernel"] == "load cached");
    CHECK(both[4]["bytes"] == fs::file_size(cache));
    CHECK(run_program("pagerank-bench", {"solve", cache}).status == 3);
  }
}

TEST_CASE("a graph cache that comes on standard input is known as one") {
  const Workplace place;
  REQUIRE(place.run({"--cache"}).status == 0);
  const RunResult result = run_pagerank({"-"}, read_file(place.cache()));
  CHECK(result.status == 3);
  CHECK(has(result.err, "error: <stdin>: a graph cache is mapped into memory"));
}

TEST_CASE("nodes of a cached edge list are called by their ids") {
  const TemporaryDirectory files;
  const std::string graph = (files / "ids.el").string();
  std::ofstream(graph) << "# ids far apart\n70 18446744073709551615\n5000000000 70\n70 5\n";
  const RunResult first = run_pagerank({graph, "--cache"});
  REQUIRE(first.status == 0);
  CHECK(has(first.out, "\t18446744073709551615\t"));
  const RunResult again = run_pagerank({graph, "--cache"});
  CHECK(has(again.err, "; from " + graph + ".prgraph"));
  CHECK(again.out == first.out);
  const RunResult given = run_pagerank({graph + ".prgraph"});
  CHECK(given.out == first.out);
  CHECK(run_pagerank({graph + ".prgraph", "--input-format", "edges"}).out == first.out);
  CHECK(run_pagerank({graph + ".prgraph", "--input-format", "mtx"}).status == 2);
}

TEST_CASE("a text that is read in another format is not taken from its cache") {
  const TemporaryDirectory files;
  const std::string graph = (files / "three").string();
  std::ofstream(graph) << "3 3\n1 2\n2 1\n";
  const RunResult edges = run_pagerank({graph, "--cache", "--input-format", "edges"});
  CHECK(edges.status == 0);
  CHECK(run_pagerank({graph, "--cache", "--input-format", "mtx"}).status == 3);
  CHECK(run_pagerank({graph, "--cache", "--input-format", "edges"}).out == edges.out);
}

TEST_CASE("a cache serves only a text that would be read in its format") {
  const TemporaryDirectory files;
  const std::string graph = (files / "edges.mtx").string();
  std::ofstream(graph) << "1 2\n2 1\n";
  CHECK(run_pagerank({graph, "--cache", "--input-format", "edges"}).status == 0);
  CHECK(run_pagerank({graph, "--cache"}).status == 3);
}

TEST_CASE("no result may overwrite the cache of a graph") {
  const Workplace place;
  const RunResult run =
      place.run({"--cache", "--output", place.cache().string(), "--format", "tsv"});
  CHECK(run.status == 2);
  CHECK(has(run.err, "would overwrite the cache of"));
}

TEST_CASE("a forged cache whose columns add up to more than 1 is not called converged") {
  const Workplace place;
  EdgeList edges;
  edges.node_count = 40;
  for (NodeId source = 0; source < 40; ++source) {
    for (NodeId target = 0; target < 40; ++target) {
      edges.add_entry(SourceIndex::row, source, target);
    }
  }
  io::CachedGraph graph;
  graph.matrix = make_transition_matrix(std::move(edges));
  graph.matrix.inverse_out_weight = Array<double>(40, 1.0);
  io::write_graph_cache(place.cache().string(), graph);
  const RunResult run = run_pagerank({place.cache().string(), "--engine", "cpu"});
  CHECK(run.status == 4);
  CHECK(has(run.err, "NOT CONVERGED"));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
