// The program as its users meet it: arguments in; tables, files, messages and exit status out.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "app/cpu_engine_options.hpp"
#include "app/exit_status.hpp"
#include "app/host_memory.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/pagerank.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

TEST_CASE("the four-node example is ranked as worked out by hand") {
  const RunResult run = run_pagerank({data("four.mtx"), "--engine", "cpu"});
  CHECK(run.status == 0);
  const std::vector<std::string> lines = lines_of(run.out);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "rank\tnode\tscore");
  const double expected[] = {0.39414924, 0.37252685, 0.19582391, 0.0375};
  const int nodes[] = {3, 1, 2, 4};
  for (int place = 0; place < 4; ++place) {
    std::istringstream row(lines[static_cast<std::size_t>(place) + 1]);
    int rank = 0, node = 0;
    double score = 0;
    row >> rank >> node >> score;
    CHECK(rank == place + 1);
    CHECK(node == nodes[place]);
    CHECK(score == doctest::Approx(expected[place]).epsilon(1e-7));
  }
}

TEST_CASE("standard error tells what was read, what computed it, and how well") {
  const RunResult run = run_pagerank({data("wb-cs-stanford.mtx"), "--engine", "cpu"});
  CHECK(run.status == 0);
  CHECK(has(run.err, "9914 nodes, 36854 entries, 36854 links, 2861 dangling nodes; row index"));
  CHECK(has(run.err, "engine: cpu"));
  CHECK(has(run.err, "converged after "));
  CHECK(has(run.err, "L1 error at most "));
  CHECK(has(run.err, "seconds: read "));
  CHECK_FALSE(has(run.out, "nodes"));
}

TEST_CASE("--quiet says nothing that is not wrong, --verbose shows every iteration") {
  CHECK(run_pagerank({data("karate.mtx"), "--quiet", "--engine", "cpu"}).err.empty());
  CHECK(has(run_pagerank({data("karate.mtx"), "--verbose", "--engine", "cpu"}).err,
            "iteration 7: change "));
}

TEST_CASE("--engine auto ranks on the CPU where there is no GPU, and says so in one line") {
  const RunResult run = run_pagerank({data("karate.mtx")});
  CHECK(run.status == 0);
  const std::string reason = gpu::unavailable_reason();
  if (!reason.empty()) {
    const auto lines = lines_of(run.err);
    const auto saying = std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return has(line, reason) && has(line, "ranking on the CPU");
    });
    CHECK(saying == 1);
    CHECK(has(run.err, "engine: cpu"));
  } else {
    CHECK(has(run.err, "engine: gpu"));
  }
}

TEST_CASE("--engine gpu without a GPU exits 5 with the reason") {
  const std::string reason = gpu::unavailable_reason();
  const RunResult run = run_pagerank({data("karate.mtx"), "--engine", "gpu"});
  if (!reason.empty()) {
    CHECK(run.status == 5);
    CHECK(run.out.empty());
    CHECK(has(run.err, reason));
  } else {
    CHECK(run.status == 0);
    CHECK(run_pagerank({data("karate.mtx"), "--engine", "gpu", "--device", "99"}).status == 5);
    CHECK(run.out == run_pagerank({data("karate.mtx"), "--engine", "gpu"}).out);
  }
}

TEST_CASE("kernels and devices are listed") {
  const RunResult kernels = run_pagerank({"--list-kernels"});
  CHECK(kernels.status == 0);
  const std::size_t listed = gpu::kernels().empty() ? 0 : 1 + gpu::kernels().size();  // and auto
  CHECK(lines_of(kernels.out).size() == listed);
  CHECK(run_pagerank({"--list-devices"}).status == 0);
  if (!gpu::kernels().empty()) {
    CHECK(run_pagerank({data("karate.mtx"), "--kernel", "nosuch"}).status == 2);
  }
}

TEST_CASE("both readings of the source are what they say") {
  const RunResult row = run_pagerank({data("wb-cs-stanford.mtx"), "--top", "3"});
  const RunResult column = run_pagerank(
      {data("wb-cs-stanford.mtx"), "--top", "3", "--source", "column", "--engine", "cpu"});
  const auto starts = [](const std::string& line, const char* with) {
    return line.rfind(with, 0) == 0;
  };
  CHECK(starts(lines_of(row.out)[1], "1\t2264\t"));
  CHECK(starts(lines_of(row.out)[2], "2\t8226\t"));
  CHECK(starts(lines_of(column.out)[1], "1\t251\t"));
  CHECK(starts(lines_of(column.out)[2], "2\t252\t"));
  CHECK(has(column.err, "column index is the source"));
}

TEST_CASE("standard input, plain and compressed, is ranked like the file") {
  const std::string expected = run_pagerank({data("wiki-Vote.mtx.gz")}).out;
  CHECK(lines_of(expected).at(1).rfind("1\t4037\t", 0) == 0);
  CHECK(run_pagerank({"-"}, read_file(data("wiki-Vote.mtx.gz"))).out == expected);
  std::ifstream compressed(data("wiki-Vote.mtx.gz"), std::ios::binary);
  std::ostringstream bytes;
  bytes << compressed.rdbuf();
  CHECK(run_pagerank({"-"}, bytes.str()).out == expected);
}

TEST_CASE("--top limits the table, 0 prints none") {
  CHECK(lines_of(run_pagerank({data("karate.mtx"), "--top", "3"}).out).size() == 4);
  CHECK(lines_of(run_pagerank({data("karate.mtx"), "--top", "1000"}).out).size() == 35);
  CHECK(run_pagerank({data("karate.mtx"), "--top", "0"}).out.empty());
}

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

TEST_CASE("the CPU engine iterates in mixed precision where that is the faster way") {
  const TemporaryDirectory files;
  constexpr int links = 1 << 20;
  std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n2 2 " + std::to_string(links) + "\n";
  for (int i = 0; i < links / 2; ++i) text += "1 2\n2 1\n";
  std::ofstream(files / "many.mtx") << text;
  const std::string many = (files / "many.mtx").string();
  CHECK(report_of({many, "--engine", "cpu"})["precision"] == "mixed");
  CHECK(report_of({data("karate.mtx"), "--engine", "cpu"})["precision"] == "double");
  CHECK(report_of({many, "--engine", "cpu", "--precision", "double"})["precision"] == "double");
}

TEST_CASE("the report holds the run") {
  const auto report = report_of({data("netscience.mtx"), "--engine", "cpu", "--alpha", "0.5"});
  CHECK(report["schema_version"] == 1);
  CHECK(report["graph"]["nodes"] == 1589);
  CHECK(report["graph"]["entries"] == 2742);
  CHECK(report["graph"]["links"] == 5484);
  CHECK(report["graph"]["dangling"] == 128);
  CHECK(report["graph"]["source"] == "row");
  CHECK(report["graph"]["cache"].is_null());
  CHECK(report["options"]["alpha"] == 0.5);
  CHECK(report["engine"] == "cpu");
  CHECK(report["precision"] == "double");
  CHECK(report["converged"] == true);
  CHECK(report["error_bound"].get<double>() <= 1e-8);
  CHECK(report["error_bound"].get<double>() > 0);
  CHECK(report["iterations"] == report["residual_history"].size());
  const auto& seconds = report["seconds"];
  CHECK(sum_of_phases(seconds) == doctest::Approx(seconds["total"].get<double>()).epsilon(0.01));
  CHECK(seconds["upload"] == 0);  // there is no GPU to bring anything to
}

TEST_CASE("not converging is written, marked, and exits 4") {
  const TemporaryDirectory files;
  const RunResult run =
      run_pagerank({data("karate.mtx"), "--max-iterations", "3", "--output",
                    (files / "s.mtx").string(), "--report", (files / "r.json").string()});
  CHECK(run.status == 4);
  CHECK(lines_of(run.out).size() == 11);
  CHECK(has(run.err, "NOT CONVERGED"));
  CHECK(has(read_file(files / "s.mtx"), "NOT CONVERGED after 3 iterations"));
  CHECK(nlohmann::json::parse(read_file(files / "r.json"))["converged"] == false);
}

TEST_CASE("the assignment: solved without zero columns, refused with them") {
  const std::string closed = (source_dir() / "tests/data/graphs/cs-stanford-scc.mtx").string();
  const RunResult solved = run_pagerank({closed, "--assignment", "--top", "1"});
  CHECK(solved.status == 0);
  CHECK(lines_of(solved.out).at(1).rfind("1\t2282\t", 0) == 0);
  CHECK(has(solved.err, "column index is the source"));

  const RunResult refused = run_pagerank({data("wb-cs-stanford.mtx"), "--assignment"});
  CHECK(refused.status == 3);
  CHECK(refused.out.empty());
  CHECK(has(refused.err, "699 dangling nodes"));
  CHECK(has(refused.err, "the first is node 1"));
}

TEST_CASE("bad usage exits 2 and points to the help") {
  const RunResult run = run_pagerank({data("karate.mtx"), "--alpha", "2"});
  CHECK(run.status == 2);
  CHECK(has(run.err, "--alpha"));
  CHECK(has(run.err, "--help"));
  CHECK(run_pagerank({}).status == 2);
  CHECK(run_pagerank({"--help"}).status == 0);
  CHECK(has(run_pagerank({"--version"}).out, "pagerank "));
}

TEST_CASE("bad input exits 3, naming file and line, and leaves no output behind") {
  const TemporaryDirectory files;
  const fs::path graph = files / "bad.mtx";
  write_file(graph, "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n1 3\n");
  const fs::path output = files / "out.tsv";
  const RunResult run = run_pagerank({graph.string(), "--output", output.string()});
  CHECK(run.status == 3);
  CHECK(run.out.empty());
  CHECK(has(run.err, "bad.mtx:4: column index outside the matrix: found '3', expected 1 to 2"));
  CHECK_FALSE(fs::exists(output));
  CHECK(run_pagerank({(files / "missing.mtx").string()}).status == 3);
  CHECK(run_pagerank({files.path().string()}).status == 3);
  CHECK(has(run_pagerank({"-"}, "rubbish").err, "<stdin>:1: "));
}

TEST_CASE("every invalid conformance file exits 3 within a second and 100 MB") {
  int files = 0;
  for (const auto& file : fs::directory_iterator(source_dir() / "tests/data/conformance/invalid")) {
    CAPTURE(file.path().string());
    const RunResult run = run_pagerank({file.path().string()});
    CHECK(run.status == 3);
    CHECK(has(run.err, file.path().filename().string() + ":"));
    CHECK(run.seconds < 1);
    if (measure_memory) CHECK(run.peak_bytes < 100'000'000);
    ++files;
  }
  CHECK(files >= 20);
}

TEST_CASE("a header that claims much costs little") {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  for (const std::string& text :
       {banner + "4294967294 4294967294 18446744073709551615\n1 1 1\n",
        banner + "4000000000 4000000000 5\n1 1 x\n", banner + "9 9 999999999999\n1 1 1\n"}) {
    const TemporaryDirectory files;
    write_file(files / "g.mtx", text);
    const RunResult run = run_pagerank({(files / "g.mtx").string()});
    CHECK(run.status == 3);
    CHECK(run.seconds < 1);
    if (measure_memory) CHECK(run.peak_bytes < 100'000'000);
  }
}

TEST_CASE("a graph of nearly no links takes what its links need, however many its nodes") {
  const TemporaryDirectory files;
  const std::string path = (files / "g.mtx").string();
  write_file(path,
             "%%MatrixMarket matrix coordinate pattern general\n4294967294 4294967294 3\n"
             "4294967294 4\n7 4\n4 2\n");
  // x = base (1, 1 + alpha (1 + 2 alpha), ..., 1 + 2 alpha, ...) for 1, 2, ..., 4, ...
  const double n = 4294967294.0, alpha = 0.85;
  const double base = 1 / (n + 2 * alpha + alpha * (1 + 2 * alpha));
  bool from_text = true;
  for (const char* precision : {"double", "mixed"}) {
    const RunResult run =
        run_pagerank({path, "--top", "5", "--precision", precision, "--tolerance", "1e-13",
                      "--cache", "--report", (files / "r.json").string()});
    CHECK(run.status == 0);
    CHECK(run.seconds < 10);
    if (measure_memory && !has(run.err, "engine: gpu")) CHECK(run.peak_bytes < 100'000'000);
    const std::vector<std::string> lines = lines_of(run.out);
    REQUIRE(lines.size() == 6);
    const int nodes[] = {2, 4, 1, 3, 5};
    const double scores[] = {1 + alpha * (1 + 2 * alpha), 1 + 2 * alpha, 1, 1, 1};
    for (std::size_t place = 0; place < 5; ++place) {
      std::istringstream row(lines[place + 1]);
      int rank = 0, node = 0;
      double score = 0;
      row >> rank >> node >> score;
      CHECK(node == nodes[place]);
      CHECK(score == doctest::Approx(base * scores[place]).epsilon(1e-6));
    }
    const auto report = nlohmann::json::parse(read_file(files / "r.json"));
    CHECK(report["graph"]["nodes"] == 4294967294);
    CHECK(report["graph"]["largest_node"] == 4294967294);
    CHECK(report["graph"]["dangling"] == 4294967291);
    CHECK(report["certified_depth"] == 2);
    CHECK(report["graph"]["cache"].is_null() == from_text);
    from_text = false;
  }
  const RunResult refused = run_pagerank({path, "--dangling", "error"});
  CHECK(refused.status == 3);
  CHECK(has(refused.err, "4294967291 dangling nodes"));
  CHECK(has(refused.err, "the first is node 1"));
}

TEST_CASE("a graph that memory cannot hold exits 5 before it is tried") {
  constexpr std::uint64_t entries = 200'000'000'000;
  const auto available = app::available_host_memory();
  REQUIRE(available.has_value());
  if (*available > entries * 6) return;  // it could
  const TemporaryDirectory files;
  write_file(files / "g.mtx",
             "%%MatrixMarket matrix coordinate pattern general\n"
             "4000000000 4000000000 " +
                 std::to_string(entries) + "\n");
  fs::resize_file(files / "g.mtx", entries * 5);  // a hole
  const RunResult run = run_pagerank({(files / "g.mtx").string(), "--engine", "cpu"});
  CHECK(run.status == 5);
  CHECK(has(run.err, "bytes needed"));
  if (measure_memory) CHECK(run.peak_bytes < 100'000'000);
}

TEST_CASE("a control group's limit counts, but files that were read do not") {
  const TemporaryDirectory files;
  const std::string root = files.path().string() + '/';
  const fs::path version2 = files / "sys/fs/cgroup", version1 = version2 / "memory";
  CHECK_FALSE(app::available_host_memory(root).has_value());
  fs::create_directories(files / "proc");
  write_file(files / "proc/meminfo", "MemTotal:  24000000 kB\nMemAvailable:   8000000 kB\n");
  CHECK(app::available_host_memory(root) == std::uint64_t{8'192'000'000});
  fs::create_directories(version1);
  write_file(version2 / "memory.max", "max\n");
  write_file(version2 / "memory.current", "1000000000\n");
  CHECK(app::available_host_memory(root) == std::uint64_t{8'192'000'000});
  write_file(version2 / "memory.max", "1500000000\n");
  CHECK(app::available_host_memory(root) == std::uint64_t{500'000'000});
  write_file(version2 / "memory.stat", "anon 100\ninactive_file 600000000\nactive_file 3\n");
  CHECK(app::available_host_memory(root) == std::uint64_t{1'100'000'000});
  write_file(version1 / "memory.limit_in_bytes", "900000000\n");
  write_file(version1 / "memory.usage_in_bytes", "1000000000\n");
  CHECK(app::available_host_memory(root) == 0U);
  write_file(version1 / "memory.stat", "inactive_file 1\ntotal_inactive_file 400000000\n");
  CHECK(app::available_host_memory(root) == std::uint64_t{300'000'000});
}

TEST_CASE("limits of the process's own control group count, and of those that it is part of") {
  for (const bool version2 : {true, false}) {
    CAPTURE(version2);
    const TemporaryDirectory files;
    const std::string root = files.path().string() + '/';
    const fs::path groups = files / (version2 ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    const auto limit = [&](const char* group, const std::string& bytes) {
      fs::create_directories(groups / group);
      write_file(groups / group / (version2 ? "memory.max" : "memory.limit_in_bytes"), bytes);
      write_file(groups / group / (version2 ? "memory.current" : "memory.usage_in_bytes"), "100");
    };
    const auto is_in = [&](const std::string& group) {
      write_file(files / "proc/self/cgroup",
                 version2 ? "0::" + group + "\n"
                          : "9:name=systemd:/job/other\n4:cpu,memory:" + group + "\n0::/job\n");
    };
    fs::create_directories(files / "proc/self");
    write_file(files / "proc/meminfo", "MemAvailable: 8000 kB\n");
    limit("job", "5100");
    limit("job/step:0", "7100");
    limit("job/other", "1100");
    is_in("/job/step:0");
    CHECK(app::available_host_memory(root) == 5000U);
    limit("job", "max");
    CHECK(app::available_host_memory(root) == 7000U);
    limit("", "3100");
    CHECK(app::available_host_memory(root) == 3000U);
    is_in("/a container, as it is called outside");
    CHECK(app::available_host_memory(root) == 3000U);
    limit("", "max");
    CHECK(app::available_host_memory(root) == 8'192'000U);
    is_in("/job/other");
    CHECK(app::available_host_memory(root) == 1000U);
    is_in("/");
    CHECK(app::available_host_memory(root) == 8'192'000U);
  }
}

TEST_CASE("the tables of a build are part of the memory that a large graph needs") {
  constexpr std::uint64_t nodes = std::uint64_t{1} << 30, links = std::uint64_t{1} << 34;
  // 2^14 bins of sources, and of targets in 64 parts; 512 more of either where some are halved.
  constexpr std::uint64_t bins = (1 << 14) + 512, table = 8 * bins * (bins + 64);
  CHECK(app::bytes_to_rank(nodes, links, false) == 5 * links + 32 * nodes + table);
  CHECK(app::bytes_to_rank(1 << 20, 1 << 24, false) < (5 << 24) + (33 << 20));
  CHECK(app::bytes_to_rank(nodes, 0, false) == 32 * nodes);  // of a cache: nothing is built
}

TEST_CASE("links stay as they are where another layout does not fit the memory that is left") {
  const GraphRecipe recipe{.kind = GraphKind::rmat, .nodes = 1 << 16, .links = 1 << 20};
  const TransitionMatrix matrix = make_transition_matrix(generate_graph(recipe));
  const auto layout = [&](std::optional<std::uint64_t> available) {
    return app::cpu_layout(matrix, Precision::mixed, available);
  };
  CHECK(layout(5 * matrix.link_count()) == CpuLayout::automatic);  // 4 bytes a link, and tables
  CHECK(layout(3 * matrix.link_count()) == CpuLayout::plain);
  CHECK(layout(std::nullopt) == CpuLayout::automatic);
  const std::vector<TransitionMatrix> copy(1, matrix);  // partial sums cannot have the ids' memory
  CHECK(layout(5 * matrix.link_count()) == CpuLayout::plain);
}

TEST_CASE("where not even one thread is to be had the program says so and exits 5") {
  if (!measure_memory) return;  // the sanitizer wants the stack for itself
  // Stacks of 2^47 bytes, which is all addresses there are.
  const RunResult run =
      run_program("/bin/sh", {"-c", "ulimit -s 137438953472 && exec \"$0\" \"$1\"",
                              path_of_program("pagerank"), data("karate.mtx")});
  CHECK(run.status == 5);
  CHECK(has(run.err, "pagerank: error: no thread is to be had"));
  CHECK(run.out.empty());
  using Error = std::system_error;
  CHECK(app::status_of(Error(std::make_error_code(std::errc::resource_unavailable_try_again))) ==
        app::ExitStatus::unable);
  CHECK(app::status_of(Error(std::make_error_code(std::errc::io_error))) ==
        app::ExitStatus::failed);
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

TEST_CASE("failures name the graph, however short its name") {
  const TemporaryDirectory files;
  write_file(files / "e", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  const std::string graph = (files / "e").string();
  CHECK(
      has(run_pagerank({graph, "--dangling", "error"}).err, graph + ": the graph has 1 dangling"));
}

TEST_CASE("a batch ranks every graph it can and exits with the worst status") {
  const TemporaryDirectory files;
  write_file(files / "bad.mtx", "rubbish\n");
  const RunResult run =
      run_pagerank({data("karate.mtx"), (files / "bad.mtx").string(), data("four.mtx"), "--top",
                    "1", "--output-dir", files.path().string()});
  CHECK(run.status == 3);
  CHECK(run.out ==
        "# " + data("karate.mtx") + "\n" + run_pagerank({data("karate.mtx"), "--top", "1"}).out +
            "# " + data("four.mtx") + "\n" + run_pagerank({data("four.mtx"), "--top", "1"}).out);
  CHECK(lines_of(read_file(files / "karate.tsv")).size() == 35);
  CHECK(lines_of(read_file(files / "four.tsv")).size() == 5);
  CHECK_FALSE(fs::exists(files / "bad.tsv"));
}

TEST_CASE("the number of threads does not change what is printed") {
  const std::vector<std::string> base = {data("wb-cs-stanford.mtx"), "--engine", "cpu", "--top",
                                         "9914"};
  std::vector<std::string> one = base, five = base;
  one.insert(one.end(), {"--threads", "1"});
  five.insert(five.end(), {"--threads", "5"});
  CHECK(run_pagerank(one).out == run_pagerank(five).out);
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
