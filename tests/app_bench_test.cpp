#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/bench/bench_options.hpp"
#include "app/bench/benchmarks.hpp"
#include "app/options.hpp"
#include "core/graph_generator.hpp"
#include "gpu/benchmark.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/program_text.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

using namespace app::bench;

BenchOptions parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "pagerank-bench");
  return parse_bench_options(static_cast<int>(arguments.size()), arguments.data());
}

bool no_gpu() {
  return !gpu::unavailable_reason().empty();
}

}  // namespace

TEST_CASE("a graph specification overrides the defaults, and its description makes it again") {
  const GraphDefaults defaults{.scale = 10, .links = 4, .seed = 3};
  const auto whole = parse_graph_spec("rmat:12x8:seed=9:scramble:symmetric:weighted", defaults);
  REQUIRE(whole);
  CHECK(whole->kind == GraphKind::rmat);
  CHECK(whole->nodes == 4096);
  CHECK(whole->links == 4096 * 8);
  CHECK(whole->seed == 9);
  CHECK(whole->scramble);
  CHECK(whole->symmetric);
  CHECK(whole->weighted);
  CHECK(describe(*whole) == "rmat:12x8:seed=9:scramble:symmetric:weighted");

  CHECK(describe(*parse_graph_spec("web", defaults)) == "web:10x4:seed=3");
  CHECK(describe(*parse_graph_spec("web:11", defaults)) == "web:11x4:seed=3");
  CHECK(describe(*parse_graph_spec("diagonal", defaults)) == "diagonal:10:seed=3");
  const auto blog = parse_graph_spec("blog", defaults);
  CHECK(blog->nodes == 52'000);
  CHECK(blog->links == 27'040'000);
  CHECK(describe(*blog) == "blog:seed=3");
  for (const GraphPreset& preset : graph_presets()) {
    const std::string text = describe(*parse_graph_spec(std::string(preset.name), defaults));
    CHECK(describe(*parse_graph_spec(text, {})) == text);
  }
}

TEST_CASE("pagerank-bench solve keeps to --gpu-memory") {
  if (no_gpu()) return;
  const RunResult run = run_program(
      "pagerank-bench",
      {"solve", "rmat:12x8", "--seconds", "0.001", "--kernel", "blocked", "--gpu-memory", "100K"});
  CHECK(run.out.find("102400 bytes available") != std::string::npos);
}

TEST_CASE("what is no generator is a file, and a misspelt specification is refused") {
  CHECK_FALSE(parse_graph_spec("graph.mtx", {}));
  CHECK_FALSE(parse_graph_spec("./rmat", {}));
  for (const char* spec : {"rmat:", "rmat:12y8", "rmat:12x", "rmat:32", "rmat:12x8:scrambled",
                           "rmat:seed=-1", "blog:12", "web:x4"}) {
    CAPTURE(spec);
    CHECK_THROWS_AS((void)parse_graph_spec(spec, {}), app::UsageError);
  }
}

TEST_CASE("the command line of pagerank-bench is checked") {
  const BenchOptions options =
      parse({"solve", "rmat:8", "--tolerance", "1e-3", "--loop", "host", "--precision", "double",
             "--seed", "4", "--gpu-memory", "3K"});
  CHECK(options.benchmark == Benchmark::solve);
  CHECK(options.graphs == std::vector<std::string>{"rmat:8"});
  CHECK(options.tolerance == 1e-3);
  CHECK(options.gpu_memory == 3 << 10);
  CHECK_FALSE(options.device_loop);
  CHECK_FALSE(options.device_reader);
  CHECK(parse({"load", "rmat", "--reader", "device"}).device_reader);
  CHECK(options.precision == Precision::float64);
  CHECK(options.generated.seed == 4);
  CHECK(parse({"--write", "x.mtx", "rmat"}).benchmark == Benchmark::none);
  CHECK(parse({"--help"}).action == BenchOptions::Action::help);
  for (const std::vector<const char*>& bad :
       std::vector<std::vector<const char*>>{{},
                                             {"spmv"},
                                             {"rmat"},
                                             {"spmv", "rmat", "--precision", "half"},
                                             {"spmv", "rmat", "--seconds", "0"},
                                             {"spmv", "rmat", "--scale", "32"},
                                             {"spmv", "rmat", "--loop", "gpu"},
                                             {"load", "rmat", "--reader", "gpu"},
                                             {"build", "rmat", "--reader", "device"},
                                             {"spmv", "web", "rmat", "--write", "x.mtx"},
                                             {"solve", "rmat", "--alpha", "1"},
                                             {"--write", "x.mtx.gz", "rmat"},
                                             {"solve", "rmat:99"}}) {
    CHECK_THROWS_AS((void)parse(bad), app::UsageError);
  }
  if (!gpu::kernels().empty()) {
    CHECK_THROWS_AS((void)parse({"spmv", "rmat", "--kernel", "cpu"}), app::UsageError);
    CHECK_THROWS_AS((void)parse({"reduce", "rmat", "--kernel", "vector"}), app::UsageError);
    CHECK(parse({"reduce", "rmat", "--kernel", "shuffle"}).kernels.size() == 1);
  }
}

TEST_CASE("sums within rounding are right, a dropped term and a missing element are not") {
  const std::vector<double> reference = {100.5, 10'000.5};
  const auto correct = [&](std::vector<double> y, Precision precision, bool narrow) {
    return compare_sums(y, reference, {.precision = precision, .narrow = narrow}).correct;
  };
  CHECK(correct({100.5, 10'000.5}, Precision::float64, false));
  CHECK(correct({100.5 * (1 + 0x1p-22), 10'000.5}, Precision::float32, false));
  CHECK_FALSE(correct({99.5, 10'000.5}, Precision::float32, true));
  CHECK_FALSE(correct({100.5, 9'999.5}, Precision::float32, false));
  CHECK_FALSE(correct({100.5, 9'999.5}, Precision::float32, true));
  CHECK_FALSE(correct({100.5, 9'999.5}, Precision::float64, true));
  CHECK_FALSE(correct({100.5 * (1 + 0x1p-22), 10'000.5}, Precision::float64, false));
  CHECK_FALSE(correct({std::nan(""), 10'000.5}, Precision::float32, true));
  CHECK_FALSE(correct({100.5}, Precision::float32, true));
  const auto difference = compare_sums(std::vector<double>{99.5, 10'000.5}, reference,
                                       {.precision = Precision::float32});
  CHECK(difference.largest_difference == doctest::Approx(1 / 100.5));
}

TEST_CASE("nothing passes for the sum of very many terms but their sum") {
  const auto correct = [](double sum, double found, const SumsOf& sums) {
    return compare_sums(std::vector<double>{found}, std::vector<double>{sum}, sums).correct;
  };
  const SumsOf ours{.precision = Precision::float32};
  const SumsOf narrow{.precision = Precision::float32, .narrow = true};
  CHECK(correct(0x1p28, 0x1p28, narrow));
  CHECK_FALSE(correct(0x1p28, 0, narrow));
  CHECK_FALSE(correct(0x1p28, 0x1p28 * (1 - 1e-5), narrow));
  CHECK_FALSE(correct(0x1p28, 0x1p28 * (1 - 1e-6), ours));
  // One of four million links dropped: within rounding, but not for whole numbers.
  const double row = 3 << 22;
  CHECK(correct(row, row - 3, ours));
  for (const bool from_narrow : {false, true}) {
    const SumsOf whole{.precision = Precision::float32, .narrow = from_narrow, .whole = true};
    CHECK(correct(row, row, whole));
    CHECK_FALSE(correct(row, row - 3, whole));
  }
  CHECK(largest_exact_term(1 << 22, Precision::float32) == 4);
  CHECK(largest_exact_term(std::uint64_t{1} << 40, Precision::float32) == 1);
  CHECK(largest_exact_term(1 << 22, Precision::float64) == std::uint64_t{1} << 31);
  CHECK(largest_exact_term(0, Precision::float32) == 1 << 24);
}

TEST_CASE("the CPU engine is measured with the layouts that are asked for, in turns") {
  if (!no_gpu()) return;
  BenchOptions options = parse({"solve", "rmat:10", "--kernel", "cpu:blocked", "--kernel",
                                "cpu:plain", "--seconds", "0.01", "--threads", "2"});
  io::BenchmarkTable table;
  run_benchmark(options, "g", generate_graph(*parse_graph_spec("rmat:10", options.generated)),
                table);
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0].kernel == "cpu:plain");
  CHECK(table.rows[1].kernel == "cpu:blocked");
  CHECK(table.rows[2].kernel == "read ids");
  CHECK(table.rows[1].prepare_seconds > table.rows[0].prepare_seconds);
  for (const io::BenchmarkRow& row : table.rows) CHECK(row.refusal.empty());
  if (gpu::kernels().empty()) return;  // nobody knows which there would be
  CHECK_THROWS_AS((void)parse({"spmv", "rmat", "--kernel", "cpu:plain"}), app::UsageError);
}

TEST_CASE("without a GPU pagerank-bench solve measures the CPU engine, and nothing else runs") {
  if (!no_gpu()) return;  // a CUDA context would count as memory of the programs run by later tests
  BenchOptions options = parse({"solve", "rmat:8", "--seconds", "0.01", "--threads", "2"});
  const auto recipe = parse_graph_spec("rmat:8", options.generated);
  io::BenchmarkTable table;
  run_benchmark(options, "g", generate_graph(*recipe), table);
  CHECK(table.nodes == 256);
  CHECK(table.links == 256 * 16);
  REQUIRE(table.rows.size() == 2);
  const io::BenchmarkRow& cpu = table.rows.front();
  CHECK(cpu.kernel == "cpu:plain");
  CHECK(table.rows.back().kernel == "read ids");  // the floor, of the same run
  CHECK(table.rows.back().bytes == table.links * sizeof(NodeId));
  CHECK(table.rows.back().median_seconds > 0);
  CHECK(*table.share_of_ceiling(table.rows.back()) == 1);
  CHECK(*table.ratio_to_floor(table.rows.back()) == doctest::Approx(1));
  CHECK(*table.ratio_to_floor(cpu) ==
        doctest::Approx(cpu.median_seconds / table.rows.back().median_seconds));
  CHECK(table.device.starts_with("CPU, 2 threads, no GPU ("));
  CHECK(*table.share_of_ceiling(cpu) ==
        doctest::Approx(cpu.bytes_per_second() / table.rows.back().bytes_per_second()));
  CHECK(cpu.refusal.empty());
  CHECK(cpu.median_seconds > 0);
  CHECK(cpu.min_seconds <= cpu.median_seconds);
  CHECK(*cpu.error_bound <= 1e-6);
  CHECK(*cpu.max_difference <= 2e-6);
  CHECK_FALSE(any_wrong(table));
  options.benchmark = Benchmark::spmv;
  CHECK_THROWS(require_device(options));
}

TEST_CASE("pagerank-bench writes its graphs as Matrix Market files, and all its reports") {
  const TemporaryDirectory dir;
  const auto file = [&](const char* name) { return (dir / name).string(); };
  const RunResult written =
      run_program("pagerank-bench", {"--write", file("g.mtx"), "rmat:9x4:symmetric:seed=5"});
  CHECK(written.status == 0);
  CHECK(written.out.empty());
  io::ByteSource source(file("g.mtx"));
  const EdgeList edges = io::read_matrix_market(source, SourceIndex::row).edges;
  CHECK(edges.undirected);
  const TransitionMatrix read = make_transition_matrix(edges);
  const TransitionMatrix made =
      make_transition_matrix(generate_graph(*parse_graph_spec("rmat:9x4:symmetric:seed=5", {})));
  CHECK(read.in_links.column_indices == made.in_links.column_indices);
  CHECK(read.in_links.row_offsets == made.in_links.row_offsets);

  const RunResult solved =
      run_program("pagerank-bench",
                  {"solve", file("g.mtx"), "web:8", "--kernel", "cpu", "--seconds", "0.01",
                   "--json", file("r.json"), "--csv", file("r.csv"), "--plot", file("r.svg")});
  CHECK(solved.status == 0);
  CHECK(solved.out.find("cpu") != std::string::npos);
  const auto json = nlohmann::json::parse(read_file(file("r.json")));
  CHECK(json["tables"].size() == 2);
  CHECK(json["tables"][1]["graph"] == "web:8x16:seed=1");
  CHECK(json["tables"][0]["rows"][0]["median_seconds"] > 0);
  CHECK(read_file(file("r.csv")).find("web:8x16:seed=1") != std::string::npos);
  CHECK(read_file(file("r.svg")).find("<svg") != std::string::npos);
}

TEST_CASE("pagerank-bench load holds a compressed file against decompressing it alone") {
  const TemporaryDirectory dir;
  const std::string graph = (dir / "g.mtx.gz").string(), report = (dir / "r.json").string();
  const std::string text = read_file(source_dir() / "data/karate.mtx");
  write_gzip_file(graph, text);
  const RunResult result =
      run_program("pagerank-bench", {"load", graph, "--seconds", "0.001", "--json", report});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  const auto table = nlohmann::json::parse(read_file(report))["tables"][0];
  CHECK(table["nodes"] == 34);
  const auto& rows = table["rows"];
  CHECK(rows[0]["kernel"] == "decompress");
  CHECK(rows[0]["bytes"] == text.size());
  CHECK(rows[0]["share_of_ceiling"] == 1);
  CHECK(result.out.find("decompressed ") != std::string::npos);
  CHECK(rows[2]["kernel"] == "read compressed");
  CHECK(rows[2]["bytes"] == std::filesystem::file_size(graph));
  CHECK(rows.back()["kernel"] == "load");
  CHECK(rows.back()["bytes"] == text.size());
  CHECK(run_program("pagerank-bench", {"load", graph, "--reader", "device"}).status != 0);
  write_gzip_file(graph, "");
  CHECK(run_program("pagerank-bench", {"load", graph}).status == 3);
}

TEST_CASE("pagerank-bench load and build time the way to the matrix against what bounds it") {
  const TemporaryDirectory dir;
  write_file(dir / "g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n3 1 2\n");
  const std::string report = (dir / "r.json").string();
  for (const std::string benchmark : {"load", "build"}) {
    CAPTURE(benchmark);
    const RunResult result =
        run_program("pagerank-bench", {benchmark, (dir / "g.mtx").string(), "uniform:8x4",
                                       "--seconds", "0.001", "--threads", "2", "--json", report});
    CHECK(result.status == 0);
    CHECK(result.out.find("peak B/link") != std::string::npos);
    const auto tables = nlohmann::json::parse(read_file(report))["tables"];
    REQUIRE(tables.size() == 2);
    CHECK(tables[0]["links"] == 2);
    CHECK(tables[1]["links"] == 1024);
    CHECK(tables[1]["graph"] == "uniform:8x4:seed=1");
    for (const auto& table : tables) {
      CHECK(table["copy_bytes_per_second"] > 0);
      CHECK(table["rows"].back()["kernel"] == benchmark);
      CHECK(table["rows"].back()["median_seconds"] > 0);
      CHECK(table["rows"][0]["share_of_ceiling"] == 1);
      const auto& memory = table["rows"][benchmark == "load" ? 1 : 0];
      CHECK(memory["kernel"] == "read memory");
      CHECK(memory["bytes_per_second"] > 0);
    }
    const auto& load = tables[0]["rows"].back();
    CHECK(load["ratio_to_baseline"].is_null() == (benchmark == "build"));
    if (benchmark == "load") CHECK(load["bytes"] == fs::file_size(dir / "g.mtx"));
  }
  CHECK(
      run_program("pagerank-bench", {"load", "rmat:16x16", "--seconds", "0.001", "--json", report})
          .status == 0);
  const auto rows = nlohmann::json::parse(read_file(report))["tables"][0]["rows"];
  CHECK(rows[rows.size() - 2]["kernel"] == "load");
  CHECK(rows.back()["kernel"] == "load laid out");  // so many links are
  CHECK(rows.back()["bytes"] == rows[rows.size() - 2]["bytes"]);
  write_file(dir / "g.txt", "# Nodes: 9\n10\t20\n30\t10\n10\t20\n");
  const RunResult edges = run_program(
      "pagerank-bench", {"load", (dir / "g.txt").string(), "--seconds", "0.001", "--json", report});
  CHECK(edges.status == 0);
  const auto table = nlohmann::json::parse(read_file(report))["tables"][0];
  CHECK(table["links"] == 3);
  CHECK(table["nodes"] == 3);
  CHECK(run_program("pagerank-bench", {"load", "/dev/null"}).status == 3);
  const std::string picture = (dir / "r.svg").string();
  CHECK(run_program("pagerank-bench", {"load", "rmat:8", "--seconds", "0.001", "--plot", picture})
            .status == 0);
  CHECK(read_file(picture).find("load rmat:8x16:seed=1") != std::string::npos);
}

TEST_CASE("pagerank-bench load --reader device times the GPU's reader against the bus") {
  const TemporaryDirectory dir;
  const std::string report = (dir / "r.json").string(), table = (dir / "r.csv").string();
  const auto run = [&](const std::string& graph) {
    return run_program("pagerank-bench", {"load", graph, "--reader", "device", "--seconds", "0.01",
                                          "--json", report, "--csv", table});
  };
  if (no_gpu()) {
    const RunResult refused = run("rmat:8");
    CHECK(refused.status == 5);
    CHECK(refused.out.empty());
  }
  if (!has_gpu()) return;
  const RunResult result = run("rmat:14x8");
  CHECK(result.status == 0);
  CHECK(result.out.find("% of ceiling") != std::string::npos);
  CHECK(result.out.find(", bus ") != std::string::npos);
  const auto json = nlohmann::json::parse(read_file(report))["tables"][0];
  const double bus = json["bus_bytes_per_second"];
  CHECK(bus > 1e9);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : json["rows"]) rows[row["kernel"]] = row;
  for (const char* const name :
       {"load", "bus", "bus, blocks of 1 MiB", "load device, first", "load device"}) {
    CAPTURE(name);
    REQUIRE(rows.contains(name));
    CHECK(rows[name]["refusal"].is_null());
    CHECK(rows[name]["median_seconds"] > 0);
  }
  const auto& device = rows["load device"];
  CHECK(device["bytes"] == rows["load"]["bytes"]);
  CHECK(device["stream_seconds"] > 0);
  CHECK(device["stream_seconds"] < device["median_seconds"]);
  CHECK(device["share_of_ceiling"].get<double>() ==
        doctest::Approx(device["stream_bytes_per_second"].get<double>() / bus));
  CHECK(device["context_seconds"].is_null());
  CHECK(rows["load device, first"]["context_seconds"] > 0);
  CHECK(rows["load device, first"]["samples"] == 1);
  CHECK(rows["bus"]["share_of_ceiling"] == 1);
  CHECK(rows["load"]["stream_seconds"] < rows["load"]["median_seconds"]);
  CHECK(read_file(table).find("load device") != std::string::npos);

  write_file(dir / "g.txt", "# Nodes: 9\n10\t20\n30\t10\n");
  CHECK(run((dir / "g.txt").string()).status == 0);
  const auto of_list = nlohmann::json::parse(read_file(report))["tables"][0];
  CHECK(of_list["rows"].back()["kernel"] == "load device");
  CHECK(of_list["rows"].back()["refusal"].is_null());
  CHECK(of_list["rows"].back()["median_seconds"] > 0);

  // The context is there when the second file comes.
  const RunResult both = run_program(
      "pagerank-bench",
      {"load", "rmat:10", "rmat:11", "--reader", "device", "--seconds", "0.01", "--json", report});
  CHECK(both.status == 0);
  const auto tables = nlohmann::json::parse(read_file(report))["tables"];
  REQUIRE(tables.size() == 2);
  const auto has_first = [](const nlohmann::json& of_file) {
    return std::any_of(of_file["rows"].begin(), of_file["rows"].end(),
                       [](const auto& row) { return row["kernel"] == "load device, first"; });
  };
  CHECK(has_first(tables[0]));
  CHECK_FALSE(has_first(tables[1]));
  CHECK(tables[1]["rows"].back()["kernel"] == "load device");
  CHECK(tables[1]["rows"].back()["median_seconds"] > 0);
}

TEST_CASE("a graph that cannot be measured does not take the others' reports with it") {
  const TemporaryDirectory dir;
  write_file(dir / "bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n3 1\n");
  const std::string report = (dir / "r.json").string();
  const RunResult result =
      run_program("pagerank-bench", {"solve", (dir / "bad.mtx").string(), "rmat:8x4", "--kernel",
                                     "cpu", "--seconds", "0.01", "--json", report});
  CHECK(result.status == 3);
  CHECK(result.err.find("bad.mtx:3") != std::string::npos);
  CHECK(nlohmann::json::parse(read_file(report))["tables"].size() == 1);
}

TEST_CASE("no result of pagerank-bench is written in the place of a graph or of another") {
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string(), text = read_file(data("karate.mtx"));
  write_file(graph, text);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--seconds", "0.001", "--threads", "1"});
    return run_program("pagerank-bench", arguments);
  };
  for (const char* const option : {"--json", "--csv", "--plot", "--write"}) {
    CAPTURE(option);
    for (const std::string& place : {graph, files.path().string() + "/./g.mtx"}) {
      const RunResult result = run({"build", graph, option, place});
      CHECK(result.status == 2);
      CHECK(has(result.err, "would overwrite the graph"));
      CHECK(read_file(graph) == text);
    }
    CHECK(run({"build", graph, option, "-"}).status == 2);
    CHECK(run({"build", graph, option, graph + ".prgraph"}).status == 2);
  }
  const std::string result = (files / "result").string();
  CHECK(run({"build", graph, "--json", result, "--csv", result}).status == 2);
  CHECK_FALSE(fs::exists(result));
}

TEST_CASE("results of an earlier run stay where there are none of this one") {
  const TemporaryDirectory files;
  const std::string bad = (files / "bad.mtx").string(), result = (files / "r.json").string();
  write_file(bad, "rubbish\n");
  write_file(result, "of before\n");
  CHECK(run_program("pagerank-bench", {"load", bad, "--json", result}).status == 3);
  CHECK(read_file(result) == "of before\n");
}

TEST_CASE("pagerank-bench says what is wrong, with the exit status of its kind") {
  CHECK(run_program("pagerank-bench", {"--help"}).status == 0);
  CHECK(run_program("pagerank-bench", {"--version"}).out.starts_with("pagerank-bench "));
  CHECK(run_program("pagerank-bench", {"spmv"}).status == 2);
  const RunResult missing = run_program("pagerank-bench", {"solve", "/no/such/graph.mtx"});
  CHECK(missing.status == 3);
  CHECK(missing.err.find("/no/such/graph.mtx") != std::string::npos);
  const RunResult misspelt = run_program("pagerank-bench", {"solve", "rmatt:8x4"});
  CHECK(misspelt.status == 2);
  CHECK(misspelt.err.find("expected one of rmat") != std::string::npos);
  const RunResult nowhere =
      run_program("pagerank-bench", {"solve", "rmat:8x4", "--json", "/no/such/directory/r.json"});
  CHECK(nowhere.status == 2);
  CHECK(nowhere.out.empty());  // found before anything is measured
  if (no_gpu()) {
    for (const char* benchmark : {"spmv", "reduce"}) {
      const RunResult result = run_program("pagerank-bench", {benchmark, "rmat:8"});
      CHECK(result.status == 5);
      CHECK(result.out.empty());
    }
    if (!gpu::kernels().empty()) {
      const RunResult result =
          run_program("pagerank-bench", {"solve", "rmat:8", "--kernel", "vector"});
      CHECK(result.status == 5);
      const RunResult both = run_program(
          "pagerank-bench",
          {"solve", "rmat:8", "--kernel", "vector", "--kernel", "cpu", "--seconds", "0.01"});
      CHECK(both.status == 0);
      CHECK(both.out.find("vector") != std::string::npos);  // with the reason why it has no time
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
