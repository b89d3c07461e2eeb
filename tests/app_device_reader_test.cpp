// The GPU's reader against the host's, as the program's users meet both.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/text_source.hpp"
#include "core/graph_generator.hpp"
#include "io/byte_source.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/matrix_market_writer.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

RunResult run_with_reader(const char* reader, std::vector<std::string> arguments,
                          const std::string& input = {}) {
  arguments.insert(arguments.end(), {"--reader", reader});
  return run_pagerank(arguments, input);
}

}  // namespace

TEST_CASE("the GPU's reader gives what the host's does: table, report and errors") {
  if (!has_gpu()) {
    const RunResult refused = run_with_reader("device", {data("karate.mtx")});
    CHECK(refused.status == 5);
    CHECK(refused.out.empty());
    return;
  }
  for (const char* const graph :
       {"karate.mtx", "netscience.mtx", "wb-cs-stanford.mtx", "wiki-Vote.mtx.gz"}) {
    for (const char* const source : {"row", "column"}) {
      for (const char* const kernel : {"auto", "ell", "hybrid", "blocked", "vector"}) {
        const std::vector<std::string> asked = {data(graph), "--engine", "gpu",
                                                "--source",  source,     "--kernel",
                                                kernel,      "--top",    "100000"};
        const RunResult host = run_with_reader("host", asked);
        const RunResult device = run_with_reader("device", asked);
        CAPTURE(graph);
        CAPTURE(kernel);
        CHECK(device.status == host.status);
        CHECK(device.out == host.out);
      }
    }
  }
  const std::string text = read_file(data("wiki-Vote.mtx.gz"));
  const std::string table = run_pagerank({data("wiki-Vote.mtx.gz"), "--engine", "gpu"}).out;
  CHECK(run_with_reader("device", {"-"}, text).out == table);

  const auto of_host = report_of({data("netscience.mtx"), "--engine", "gpu"});
  const auto of_device = report_of({data("netscience.mtx"), "--reader", "device"});
  for (const char* const fact : {"nodes", "smallest_node", "largest_node", "entries", "links",
                                 "dangling", "weighted", "symmetric", "source", "format"}) {
    CAPTURE(fact);
    CHECK(of_device["graph"][fact] == of_host["graph"][fact]);
  }
  CHECK(of_device["reader"] == "device");
  CHECK(of_host["reader"] == "host");
  CHECK(of_device["error_bound"] == of_host["error_bound"]);

  int refused = 0;
  for (const auto& file :
       fs::recursive_directory_iterator(source_dir() / "tests/data/conformance")) {
    if (!file.is_regular_file()) continue;
    const std::vector<std::string> asked = {file.path().string(), "--input-format", "mtx",
                                            "--quiet"};
    std::vector<std::string> on_host = asked;
    on_host.insert(on_host.end(), {"--engine", "cpu"});  // to look for GPUs takes longer
    const RunResult host = run_pagerank(on_host);
    if (host.status != 3) continue;
    const RunResult device = run_with_reader("device", asked);
    CAPTURE(file.path().string());
    CHECK(device.status == 3);
    CHECK(device.err == host.err);
    ++refused;
  }
  CHECK(refused > 40);
}

TEST_CASE("entries are taken to be there only where a file's bytes can hold what is declared") {
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  for (const std::string field : {"pattern", "real", "integer"}) {
    for (const std::uint64_t declared : {90, 130, 200, 1'000'000'000}) {
      const std::string text = "%%MatrixMarket matrix coordinate " + field + " general\n9 9 " +
                               std::to_string(declared) + "\n" + std::string(600, '\n');
      write_file(path, text);
      io::ByteSource source(path);
      io::MatrixMarketReader reader(source);
      const gpu::EntryTextShape shape = app::TextSource(reader).shape();
      const std::uint64_t most = text.size() / (field == "pattern" ? 4 : 6) + 1;
      CAPTURE(field);
      CAPTURE(declared);
      CHECK(shape.declared_entries == declared);
      CHECK(shape.expected_entries == std::min(declared, most));
      CHECK(shape.entries_are_there == (declared <= most));
    }
  }
}

TEST_CASE("the GPU's reader gives what the host's does of edge lists") {
  if (!has_gpu()) {
    const std::string list = (source_dir() / "tests/data/edge_lists/valid/ids_64_bit.el").string();
    CHECK(run_with_reader("device", {list}).status == 5);
    return;
  }
  const TemporaryDirectory files;
  std::vector<std::string> graphs;
  for (const bool weighted : {false, true}) {
    for (const std::uint64_t factor : {std::uint64_t{1}, std::uint64_t{0x9E3779B97F4A7C15}}) {
      std::string text = "# FromNodeId\tToNodeId\n";
      for (std::uint64_t i = 1; i < 20'000; ++i) {
        text += std::to_string(i * i % 3001 * factor);
        text += '\t';
        text += std::to_string(i % 1009 * factor);
        text += weighted ? "\t0." + std::to_string(i) + "\n" : "\n";
      }
      graphs.push_back((files / ("g" + std::to_string(graphs.size()) + ".txt")).string());
      write_file(graphs.back(), text);
    }
  }
  int refused = 0, ranked = 0;
  for (const auto& file :
       fs::recursive_directory_iterator(source_dir() / "tests/data/edge_lists")) {
    if (file.is_regular_file()) graphs.push_back(file.path().string());
  }
  for (const std::string& graph : graphs) {
    CAPTURE(graph);
    const std::vector<std::string> asked = {graph,    "--engine",       "gpu",   "--top",
                                            "100000", "--input-format", "edges", "--quiet"};
    const RunResult host = run_with_reader("host", asked);
    const RunResult device = run_with_reader("device", asked);
    CHECK(device.status == host.status);
    CHECK(device.out == host.out);
    CHECK(device.err == host.err);
    ++(host.status == 3 ? refused : ranked);
    std::vector<std::string> streamed = asked;
    streamed.front() = "-";
    CHECK(run_with_reader("device", streamed, read_file(graph)).out == host.out);
  }
  CHECK(refused > 20);
  CHECK(ranked > 10);

  const auto of_host = report_of({graphs.front(), "--engine", "gpu", "--reader", "host"});
  const auto of_device = report_of({graphs.front(), "--reader", "device"});
  for (const char* const fact : {"nodes", "smallest_node", "largest_node", "entries", "links",
                                 "dangling", "weighted", "symmetric", "source", "format"}) {
    CAPTURE(fact);
    CHECK(of_device["graph"][fact] == of_host["graph"][fact]);
  }
  CHECK(of_device["reader"] == "device");
}

TEST_CASE("size lines with the most that 64 bits hold are refused alike, whoever reads") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  const std::string most = "18446744073709551615";
  struct Refused {
    std::string sizes, detail;
  };
  const std::vector<Refused> all = {{"3 3 " + most, most + " in "},
                                    {"3 3 " + most + '0', "found '" + most + "0'"},
                                    {"3 " + most + " 2", "found '" + most + "'"},
                                    {most + ' ' + most + " 2", "found '" + most + "'"}};
  for (const Refused& refused : all) {
    const std::string text =
        "%%MatrixMarket matrix coordinate pattern general\n" + refused.sizes + "\n1 2\n2 3\n";
    write_file(graph, text);
    for (const std::string& input : {graph, std::string("-")}) {
      CAPTURE(refused.sizes);
      CAPTURE(input);
      // Of what a stream claims there is room for as many entries as that memory holds.
      const std::vector<std::string> asked = {input, "--quiet",      "--engine",
                                              "gpu", "--gpu-memory", "1G"};
      const RunResult host = run_with_reader("host", asked, text);
      const RunResult device = run_with_reader("device", asked, text);
      CHECK(host.status == 3);
      CHECK(has(host.err, ":2: "));
      CHECK(has(host.err, refused.detail));
      CHECK(device.status == 3);
      CHECK(device.out.empty());
      CHECK(device.err == host.err);
    }
  }
}

TEST_CASE("nodes without out-links are refused alike, whichever reader brings the graph") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string list = (files / "list.txt").string(), many = (files / "many.mtx").string();
  write_file(list, "# labels far apart\n70 900\n900 5000000000\n70 80\n");
  // So many nodes that the host gives those without links one row, and the GPU's reader each its
  // own.
  write_file(many,
             "%%MatrixMarket matrix coordinate pattern general\n1048576 1048576 3\n"
             "1 5\n5 1\n7 1\n");
  struct Expected {
    std::string graph;
    std::vector<std::string> options;
    std::uint64_t count, first;  ///< Of nodes without out-links.
  };
  const std::vector<std::string> by_row = {"--dangling", "error"}, by_column = {"--assignment"};
  const std::string closed = (source_dir() / "tests/data/graphs/cs-stanford-scc.mtx").string();
  const std::vector<Expected> all = {{data("four.mtx"), by_row, 0, 0},
                                     {data("four.mtx"), by_column, 1, 4},
                                     {data("wb-cs-stanford.mtx"), by_row, 2861, 1},
                                     {data("wb-cs-stanford.mtx"), by_column, 699, 1},
                                     {closed, by_row, 0, 0},
                                     {closed, by_column, 0, 0},
                                     {list, by_row, 2, 80},
                                     {list, by_column, 1, 70},
                                     {many, by_row, 1048573, 2},
                                     {many, by_column, 1048574, 2}};
  for (const Expected& expected : all) {
    std::vector<std::string> asked = {expected.graph, "--quiet", "--engine",
                                      "gpu",          "--top",   "100000"};
    asked.insert(asked.end(), expected.options.begin(), expected.options.end());
    const RunResult host = run_with_reader("host", asked);
    const RunResult device = run_with_reader("device", asked);
    CAPTURE(expected.graph);
    CAPTURE(expected.options.front());
    CHECK(device.status == (expected.count == 0 ? 0 : 3));
    CHECK(device.out.empty() == (expected.count > 0));
    if (expected.count > 0) {
      CHECK(has(device.err, "the graph has " + std::to_string(expected.count) + " dangling node"));
      CHECK(has(device.err, "the first is node " + std::to_string(expected.first) + "\n"));
    }
    CHECK(device.status == host.status);
    CHECK(device.out == host.out);
    CHECK(device.err == host.err);
  }
}

TEST_CASE("graphs of several windows are ranked alike, whichever reader brings them to the GPU") {
  if (!has_gpu()) return;
  constexpr std::uint64_t nodes = std::uint64_t{1} << 18;
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  for (const GraphKind kind : {GraphKind::rmat, GraphKind::web}) {
    for (const bool weighted : {false, true}) {
      const EdgeList edges = generate_graph({.kind = kind,
                                             .nodes = nodes,
                                             .links = 8 * nodes,
                                             .scramble = kind == GraphKind::rmat,
                                             .weighted = weighted});
      std::ofstream file(graph);
      io::write_matrix_market(file, edges);
      file.close();
      REQUIRE(file);
      for (const char* const precision : {"mixed", "double"}) {
        CAPTURE(weighted);
        CAPTURE(precision);
        const std::vector<std::string> asked = {graph,     "--engine", "gpu",         "--kernel",
                                                "blocked", "--top",    "1000",        "--quiet",
                                                "--alpha", "0.9",      "--precision", precision};
        const RunResult host = run_with_reader("host", asked);
        const RunResult device = run_with_reader("device", asked);
        CHECK(host.status == 0);
        CHECK(device.status == 0);
        CHECK(lines_of(host.out).size() == 1001);
        CHECK(device.out == host.out);
      }
    }
  }
}

TEST_CASE("the phases of a run that the GPU reads for add up to its time") {
  if (!has_gpu()) return;
  const auto seconds = report_of({data("wb-cs-stanford.mtx"), "--reader", "device"})["seconds"];
  CHECK(sum_of_phases(seconds) == doctest::Approx(seconds["total"].get<double>()).epsilon(0.01));
  CHECK(seconds["context"] > 0);
  CHECK(seconds["stream"] > 0);
  // Reading is hardly anything else.
  const double of_gpu = seconds["context"].get<double>() + seconds["stream"].get<double>();
  CHECK(of_gpu <= seconds["read"]);
  CHECK(of_gpu >= seconds["read"].get<double>() - 0.05);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
