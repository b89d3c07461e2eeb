// The program as its users meet it: arguments in; tables, files, messages and exit status out.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/exit_status.hpp"
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

TEST_SUITE_END();
}  // namespace pagerank::tests
