#include <doctest/doctest.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "app/exit_status.hpp"
#include "app/options.hpp"
#include "gpu/pagerank.hpp"
#include "io/atomic_file.hpp"
#include "io/input_error.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

using app::Options;

Options parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"pagerank"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return app::parse_options(static_cast<int>(argv.size()), argv.data());
}

void check_refused(const std::vector<std::string>& arguments, const char* because) {
  std::string line;
  for (const std::string& argument : arguments) line += argument + ' ';
  CAPTURE(line);
  CHECK_THROWS_WITH_AS((void)parse(arguments), doctest::Contains(because), app::UsageError);
}

}  // namespace

TEST_CASE("the defaults are the documented ones") {
  const Options options = parse({"g.mtx"});
  CHECK(options.action == Options::Action::rank);
  CHECK(options.graphs == std::vector<std::string>{"g.mtx"});
  CHECK_FALSE(options.input_format.has_value());
  CHECK(options.source == SourceIndex::row);
  CHECK(options.problem.alpha == 0.85);
  CHECK(options.problem.dangling == DanglingPolicy::teleport);
  CHECK(options.engine == app::EngineChoice::automatic);
  CHECK_FALSE(options.precision.has_value());
  CHECK(options.tolerance == 1e-8);
  CHECK(options.max_iterations == 1000);
  CHECK(options.top == 10);
  CHECK(options.output.empty());
  CHECK(parse({"g.mtx", "--precision", "float"}).tolerance == 1e-5);
}

TEST_CASE("every option is read") {
  const TemporaryDirectory files;
  const std::string output = (files / "out.npy").string(), report = (files / "r.json").string();
  const Options options = parse({"--source",    "column",      "--alpha=0.5",
                                 "--dangling",  "error",       "--engine",
                                 "gpu",         "--device",    "1",
                                 "--threads",   "3",           "--kernel",
                                 "scalar",      "--precision", "float",
                                 "--tolerance", "1e-5",        "--max-iterations",
                                 "7",           "--top",       "0",
                                 "--output",    output,        "--report",
                                 report,        "--verbose",   "-"});
  CHECK(options.graphs == std::vector<std::string>{"-"});
  CHECK(options.source == SourceIndex::column);
  CHECK(options.problem.alpha == 0.5);
  CHECK(options.problem.dangling == DanglingPolicy::error);
  CHECK(options.engine == app::EngineChoice::gpu);
  CHECK(options.device == 1);
  CHECK(options.threads == 3);
  CHECK(options.kernel == "scalar");
  CHECK(options.precision == Precision::float32);
  CHECK(options.tolerance == 1e-5);
  CHECK(options.max_iterations == 7);
  CHECK(options.top == 0);
  CHECK(options.output_path("g") == output);
  CHECK(options.output_format() == io::ScoreFormat::npy);
  CHECK(options.report == report);
  CHECK(options.verbose);
}

TEST_CASE("--gpu-memory is a number of bytes, or of powers of 1024") {
  CHECK(parse({"g.mtx"}).gpu_memory == 0);
  CHECK(parse({"g.mtx", "--gpu-memory", "0"}).gpu_memory == 0);
  CHECK(parse({"g.mtx", "--gpu-memory", "123456789012"}).gpu_memory == 123'456'789'012);
  CHECK(parse({"g.mtx", "--gpu-memory", "3K"}).gpu_memory == 3 * 1024);
  CHECK(parse({"g.mtx", "--gpu-memory", "500M"}).gpu_memory == 500 * 1024 * 1024);
  CHECK(parse({"g.mtx", "--gpu-memory", "40G"}).gpu_memory == 40ULL << 30);
  CHECK(parse({"g.mtx", "--gpu-memory=2T"}).gpu_memory == 2ULL << 40);
  CHECK(parse({"g.mtx", "--gpu-memory", "8388607T"}).gpu_memory == 8'388'607ULL << 40);
  for (const char* const bad :
       {"", "G", "1g", "1.5G", "-1", "+1", " 1", "1 G", "1GB", "1GG", "0x10", "9223372036854775808",
        "8388608T", "99999999999999999999"}) {
    check_refused({"g.mtx", "--gpu-memory", bad}, "--gpu-memory");
  }
}

TEST_CASE("--input-format names the formats, auto looks at the file") {
  CHECK(parse({"-", "--input-format", "edges"}).input_format == io::GraphFormat::edge_list);
  CHECK(parse({"-", "--input-format", "mtx"}).input_format == io::GraphFormat::matrix_market);
  CHECK_FALSE(parse({"-", "--input-format", "auto"}).input_format.has_value());
}

TEST_CASE("--assignment reads columns as sources and refuses dangling nodes") {
  const Options options = parse({"--assignment", "g.mtx"});
  CHECK(options.source == SourceIndex::column);
  CHECK(options.problem.dangling == DanglingPolicy::error);
  CHECK_NOTHROW((void)parse({"--assignment", "--source", "column", "g.mtx"}));
  check_refused({"--assignment", "--source", "row", "g.mtx"}, "contradict");
  check_refused({"--assignment", "--dangling", "teleport", "g.mtx"}, "contradict");
}

TEST_CASE("help, version and lists need no graph") {
  CHECK(parse({"--help"}).action == Options::Action::help);
  CHECK(parse({"--version"}).action == Options::Action::version);
  CHECK(parse({"--list-kernels"}).action == Options::Action::list_kernels);
  CHECK(parse({"--list-devices"}).action == Options::Action::list_devices);
}

TEST_CASE("help shows every option that there is") {
  const std::string help = app::help_text();
  for (const char* option :
       {"--gpu-memory", "--reader",    "--source",         "--assignment",   "--alpha",
        "--dangling",   "--engine",    "--device",         "--threads",      "--kernel",
        "--precision",  "--tolerance", "--max-iterations", "--top",          "--output",
        "--output-dir", "--format",    "--report",         "--quiet",        "--verbose",
        "--help",       "--version",   "--list-kernels",   "--list-devices", "exit status"}) {
    CHECK_MESSAGE(help.find(option) != std::string::npos, option);
  }
}

TEST_CASE("options that make no sense are refused, saying which") {
  check_refused({}, "no GRAPH");
  check_refused({"g.mtx", "--no-such-option"}, "no-such-option");
  check_refused({"g.mtx", "--alph", "0.5"}, "alph");
  check_refused({"g.mtx", "--alpha", "1"}, "--alpha");
  check_refused({"g.mtx", "--reader", "gpu"}, "--reader");
  check_refused({"g.mtx", "--reader", "device", "--engine", "cpu"}, "--reader");
  check_refused({"g.mtx", "--reader", "device", "--cache"}, "--reader");
  check_refused({"g.mtx", "--alpha", "-0.1"}, "--alpha");
  check_refused({"g.mtx", "--alpha", "nan"}, "--alpha");
  check_refused({"g.mtx", "--alpha", "0.85x"}, "alpha");
  check_refused({"g.mtx", "--alpha", "0.5", "--alpha", "0.6"}, "alpha");
  check_refused({"g.mtx", "--tolerance", "0"}, "--tolerance");
  check_refused({"g.mtx", "--tolerance", "inf"}, "--tolerance");
  check_refused({"g.mtx", "--source", "diagonal"}, "expected one of row, column");
  check_refused({"g.mtx", "--input-format", "csv"}, "expected one of auto, mtx, edges");
  check_refused({"g.mtx", "--dangling", "ignore"}, "expected one of teleport, error");
  check_refused({"g.mtx", "--engine", "tpu"}, "expected one of auto, gpu, cpu");
  check_refused({"g.mtx", "--precision", "half"}, "expected one of auto, double, mixed, float");
  check_refused({"g.mtx", "--engine", "cpu", "--kernel", "scalar"}, "--kernel");
  check_refused({"g.mtx", "--max-iterations", "0"}, "--max-iterations");
  check_refused({"g.mtx", "--max-iterations", "4294967296"}, "--max-iterations");
  check_refused({"g.mtx", "--threads", "-1"}, "--threads");
  check_refused({"g.mtx", "--device", "-1"}, "--device");
  check_refused({"g.mtx", "--top", "-1"}, "--top");
  check_refused({"g.mtx", "--top", "many"}, "top");
  check_refused({"g.mtx", "--output", "scores.txt"}, "--output");
  check_refused({"g.mtx", "--output", "scores"}, "--output");
  check_refused({"g.mtx", "--output", "/no/such/place/scores.tsv"}, "no directory");
  check_refused({"g.mtx", "--report", "/no/such/place/r.json"}, "no directory");
  check_refused({"g.mtx", "--output-dir", "/no/such/place"}, "no directory");
  check_refused({"g.mtx", "--format", "tsv"}, "--format needs");
  check_refused({"g.mtx", "--output", "a.tsv", "--format", "xml"}, "expected one of tsv");
  check_refused({"g.mtx", "--output", "a.tsv", "--output-dir", "."}, "contradict");
  check_refused({"g.mtx", "--output", "a.json", "--report", "a.json"}, "same file");
  check_refused({"g.mtx", "--output", "/tmp", "--format", "tsv"}, "is a directory");
  check_refused({"g.mtx", "--report", "/tmp"}, "is a directory");
  check_refused({"g.mtx", "--report", "-"}, "/dev/stdout");
  check_refused({"g.mtx", "--output", "-", "--format", "tsv"}, "/dev/stdout");
  check_refused({"-", "g.mtx", "-"}, "only once");
  check_refused({"g.mtx", "--quiet", "--verbose"}, "contradict");
}

TEST_CASE("several graphs have a file each in a directory") {
  const TemporaryDirectory files;
  const std::string dir = files.path().string();
  const Options options =
      parse({"x/a.mtx", "b.mtx.gz", "-", "--output-dir", dir, "--format", "csv"});
  CHECK(options.output_path("x/a.mtx") == dir + "/a.csv");
  CHECK(options.output_path("b.mtx.gz") == dir + "/b.csv");
  CHECK(options.output_path("-") == dir + "/stdin.csv");
  CHECK(options.output_path("x/c.txt.gz") == dir + "/c.csv");
  CHECK(options.output_path("c.el") == dir + "/c.csv");
  CHECK(options.output_path("D.TXT.GZ") == dir + "/D.csv");
  check_refused({"a.mtx", "b.mtx", "--output", "o.tsv"}, "--output-dir");
  check_refused({"a.mtx", "b.mtx", "--report", "o.json"}, "--output-dir");
  check_refused({"x/a.mtx", "y/a.mtx", "--output-dir", dir}, "two graphs");
}

TEST_CASE("a result never overwrites its graph") {
  const TemporaryDirectory files;
  const fs::path graph = files / "g.mtx";
  write_file(graph, "%%MatrixMarket");
  fs::create_symlink("g.mtx", files / "other.mtx");
  check_refused({graph.string(), "--output", graph.string()}, "overwrite");
  check_refused({graph.string(), "--output", (files / "other.mtx").string()}, "overwrite");
  check_refused({graph.string(), "--output-dir", files.path().string(), "--format", "mtx"},
                "overwrite");
}

TEST_CASE("pipes and devices may be written twice") {
  CHECK_NOTHROW((void)parse({"g.mtx", "--output", "/dev/null", "--format", "tsv"}));
  CHECK_NOTHROW(
      (void)parse({"g.mtx", "--output", "/dev/null", "--format", "tsv", "--report", "/dev/null"}));
}

TEST_CASE("each kind of exception has its exit status") {
  using app::ExitStatus;
  using app::status_of;
  CHECK(status_of(app::UsageError("")) == ExitStatus::bad_usage);
  CHECK(status_of(io::InputError("")) == ExitStatus::bad_input);
  CHECK(status_of(io::ParseError("f", 1, io::ParseFault::bad_weight, "")) == ExitStatus::bad_input);
  CHECK(status_of(DanglingNodesError(0, 1)) == ExitStatus::bad_input);
  CHECK(status_of(OutOfMemory("host", 2, 1)) == ExitStatus::unable);
  CHECK(status_of(std::bad_alloc()) == ExitStatus::unable);
  CHECK(status_of(gpu::NotCompiled()) == ExitStatus::unable);
  CHECK(status_of(gpu::NoDevice("")) == ExitStatus::unable);
  for (const int lacking : {EAGAIN, EMFILE, ENFILE, ENOMEM}) {
    CHECK(status_of(std::system_error(lacking, std::generic_category())) == ExitStatus::unable);
  }
  CHECK(status_of(std::system_error(EIO, std::generic_category())) == ExitStatus::failed);
  CHECK(status_of(io::OutputError("")) == ExitStatus::failed);
  CHECK(status_of(gpu::CudaError("")) == ExitStatus::failed);
}

TEST_CASE("a batch exits with the worst of its graphs") {
  using app::ExitStatus;
  using app::worse;
  CHECK(worse(ExitStatus::converged, ExitStatus::converged) == ExitStatus::converged);
  CHECK(worse(ExitStatus::converged, ExitStatus::not_converged) == ExitStatus::not_converged);
  CHECK(worse(ExitStatus::bad_input, ExitStatus::not_converged) == ExitStatus::bad_input);
  CHECK(worse(ExitStatus::bad_input, ExitStatus::unable) == ExitStatus::unable);
  CHECK(worse(ExitStatus::failed, ExitStatus::unable) == ExitStatus::failed);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
