// How a graph is loaded, of which the program shows its users only a part.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "app/load_graph.hpp"
#include "app/options.hpp"
#include "app/phase_clock.hpp"
#include "app/progress_display.hpp"
#include "core/pagerank.hpp"
#include "gpu/pagerank.hpp"
#include "io/report.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

TEST_CASE("without a driver --reader auto never begins to read a large text for the GPU") {
  if (gpu::has_driver()) return;
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  // So large that one thread would leave it to a GPU.
  write_file(graph, "%%MatrixMarket matrix coordinate pattern general\n%" +
                        std::string(13 << 20, ' ') + "\n2 2 2\n1 2\n2 1\n");
  const RunResult run = run_pagerank({graph, "--threads", "1"});
  CHECK(run.status == 0);
  CHECK(has(run.err, "engine: cpu"));
  CHECK_FALSE(has(run.err, "the host reads"));
}

TEST_CASE("what a GPU took in vain is part of reading alone, the building of its matrix too") {
  app::PhaseClock clock;
  app::ProgressDisplay progress(false);
  io::Report report;
  report.seconds.read = 1000;
  report.seconds.context = 300;
  report.seconds.stream = 600;
  report.seconds.build = 100;
  const app::Options options{.engine = app::EngineChoice::cpu};
  (void)app::load_graph(options, data("karate.mtx"), clock, progress, report);
  CHECK(report.seconds.read > 1100);
  CHECK(report.seconds.context == 0);
  CHECK(report.seconds.stream == 0);
  CHECK(report.seconds.build > 0);
  CHECK(report.seconds.build < 100);
}

TEST_CASE("what the system lacks for a GPU is lack of one, what is wrong with a text is not") {
  CHECK(app::is_lack_of_gpu(gpu::NotCompiled()));
  CHECK(app::is_lack_of_gpu(gpu::NoDevice("none")));
  CHECK(app::is_lack_of_gpu(OutOfMemory("GPU", 2, 1)));
  CHECK(app::is_lack_of_gpu(std::bad_alloc()));
  CHECK(app::is_lack_of_gpu(
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  CHECK_FALSE(app::is_lack_of_gpu(gpu::CudaError("a call failed")));
  CHECK_FALSE(app::is_lack_of_gpu(std::runtime_error("g.mtx:1: bad")));
}

TEST_CASE("--reader auto leaves to the GPU plain files of twelve MiB a core and more") {
  const TemporaryDirectory files;
  const auto file_of = [&files](const char* name, const std::string& begin, std::uintmax_t bytes) {
    const fs::path path = files / name;
    write_file(path, begin);
    fs::resize_file(path, bytes);
    return path.string();
  };
  constexpr std::uintmax_t mega = 1 << 20;
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string large = file_of("large.mtx", banner, 96 * mega),
                    smaller = file_of("smaller.mtx", banner, 96 * mega - 1),
                    edges = file_of("edges.txt", "1 2\n", 96 * mega),
                    compressed = file_of("large.mtx.gz", "\x1f\x8b\x08", 96 * mega);
  const std::string pipe = (files / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  // By name, so that it does not hang on a GPU's being there.
  app::Options options{.engine = app::EngineChoice::gpu, .threads = 8};
  CHECK(app::reads_on_device(options, large));
  CHECK(app::reads_on_device(options, edges));
  CHECK_FALSE(app::reads_on_device(options, smaller));
  CHECK_FALSE(app::reads_on_device(options, compressed));
  CHECK_FALSE(app::reads_on_device(options, pipe));
  CHECK_FALSE(app::reads_on_device(options, "-"));
  CHECK_FALSE(app::reads_on_device(options, (files / "none").string()));
  options.threads = 7;
  CHECK(app::reads_on_device(options, smaller));
  options.threads = 9;
  CHECK_FALSE(app::reads_on_device(options, large));
  options.threads = 1;
  options.cache = true;
  CHECK_FALSE(app::reads_on_device(options, large));
  options.cache = false;
  options.engine = app::EngineChoice::cpu;
  CHECK_FALSE(app::reads_on_device(options, large));
  options.engine = app::EngineChoice::gpu;
  options.reader = app::ReaderChoice::host;
  CHECK_FALSE(app::reads_on_device(options, large));
  options.reader = app::ReaderChoice::device;
  for (const std::string& any : {smaller, compressed, pipe, std::string("-")}) {
    CHECK(app::reads_on_device(options, any));
  }
}

TEST_CASE("--reader device refuses a graph cache, which is no text") {
  const TemporaryDirectory files;
  const fs::path graph = files / "g.mtx";
  fs::copy_file(data("karate.mtx"), graph);
  REQUIRE(run_pagerank({graph.string(), "--engine", "cpu", "--cache"}).status == 0);
  const std::string cache = graph.string() + ".prgraph";
  app::PhaseClock clock;
  app::ProgressDisplay progress(false);
  io::Report report;
  app::Options options{.reader = app::ReaderChoice::device};
  CHECK_THROWS_WITH_AS((void)app::load_graph(options, cache, clock, progress, report),
                       doctest::Contains("--reader device"), app::UsageError);
  for (const app::ReaderChoice reader : {app::ReaderChoice::automatic, app::ReaderChoice::host}) {
    options.reader = reader;
    CHECK_NOTHROW((void)app::load_graph(options, cache, clock, progress, report));
  }
  // (Without a GPU the option is refused before any graph is looked at.)
  const RunResult run = run_pagerank({cache, "--reader", "device"});
  CHECK(run.status == (gpu::unavailable_reason().empty() ? 2 : 5));
  CHECK(run.out.empty());
}

TEST_SUITE_END();
}  // namespace pagerank::tests
