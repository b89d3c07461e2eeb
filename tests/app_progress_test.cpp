// What is shown while the program works, and what is left when it is stopped.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "app/progress_display.hpp"
#include "io/atomic_file.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
namespace {

using namespace std::chrono_literals;

/// A program that was built beside the tests, running. Its input is a pipe that stays open.
class RunningProgram {
 public:
  /// `log`: where its standard error goes, if not where that of the tests does.
  RunningProgram(const std::string& program, std::vector<std::string> arguments,
                 const std::string& log = {}) {
    const std::string path = path_of_program(program);
    arguments.insert(arguments.begin(), path);
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int input[2];
    REQUIRE(pipe(input) == 0);
    input_ = input[1];
    process_ = fork();
    if (process_ == 0) {
      // Whoever runs the tests may ignore them: shells do for what they start in the background.
      for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
      dup2(input[0], STDIN_FILENO);
      close(input[0]);
      close(input[1]);
      if (!log.empty()) dup2(open(log.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
      execv(path.c_str(), pointers.data());
      _exit(127);
    }
    close(input[0]);
  }
  ~RunningProgram() {
    if (process_ > 0) stop(SIGKILL);
    close(input_);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// Sends a signal and waits. The exit status, or -1 for an end by a signal.
  int stop(int signal) {
    REQUIRE(process_ > 0);  // 0 would be everybody here
    kill(process_, signal);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Waits for it to end of itself.
  int status() { return stop(0); }
  [[nodiscard]] bool has_ended() {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == 0) return false;
    process_ = 0;
    return true;
  }
  /// Waits until it has opened a file there to write to, or has ended: false.
  [[nodiscard]] bool begins_to_write_in(const fs::path& folder) {
    for (; !has_ended(); std::this_thread::sleep_for(1ms)) {
      if (writes_in(fs::canonical(folder))) return true;
    }
    return false;
  }

 private:
  /// What is not whole yet has no name, which the system shows as # and a number, or a temporary
  /// one.
  [[nodiscard]] bool writes_in(const fs::path& folder) const {
    std::error_code error;
    fs::directory_iterator open_file("/proc/" + std::to_string(process_) + "/fd", error);
    for (; !error && open_file != fs::directory_iterator(); open_file.increment(error)) {
      std::error_code closed;
      const fs::path file = fs::read_symlink(open_file->path(), closed);
      const std::string name = file.filename().string();
      if (!closed && file.parent_path() == folder && (name.starts_with('#') || has(name, ".tmp"))) {
        return true;
      }
    }
    return false;
  }

  pid_t process_ = 0;
  int input_ = -1;
};

/// Links from each node to the next.
std::string write_chain(const fs::path& path) {
  constexpr int nodes = 20000;
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(nodes) +
                     " " + std::to_string(nodes) + " " + std::to_string(nodes - 1) + "\n";
  for (int node = 1; node < nodes; ++node) {
    text += std::to_string(node) + " " + std::to_string(node + 1) + "\n";
  }
  write_file(path, text);
  return path.string();
}

/// Of a chain: rank moves on by one node an iteration, that takes long.
std::vector<std::string> long_solve(const std::string& graph) {
  return {graph,        "--engine",         "cpu",       "--threads", "1", "--alpha",
          "0.99999999", "--max-iterations", "1000000000"};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_SUITE_BEGIN("app");

TEST_CASE("progress is shown when it is asked for, and not where nobody watches") {
  const std::string graph = (source_dir() / "data" / "karate.mtx").string();
  const RunResult always = run_pagerank({graph, "--engine", "cpu", "--progress", "always"});
  CHECK(always.status == 0);
  CHECK(has(always.err, "reading " + graph + ": 100 %"));
  CHECK(has(always.err, " MB [####################]"));
  CHECK(has(always.err, "building the matrix"));
  CHECK(has(always.err, "preparing the engine"));
  CHECK(has(always.err, "error at most"));
  const RunResult quiet =
      run_pagerank({graph, "--engine", "cpu", "--progress", "always", "--quiet"});
  CHECK(has(quiet.err, "reading " + graph + ": 100 %"));
  for (const char* choice : {"auto", "never"}) {
    const RunResult run = run_pagerank({graph, "--engine", "cpu", "--progress", choice});
    CHECK_FALSE(has(run.err, "reading"));
    CHECK(run.out == always.out);
  }
  CHECK(run_pagerank({graph, "--progress", "sometimes"}).status == 2);
}

TEST_CASE("on a terminal one line changes while the program works") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const TemporaryDirectory files;
  RunningProgram program("pagerank", long_solve(write_chain(files / "g.mtx")), ptsname(terminal));
  std::string shown;
  const auto begin = std::chrono::steady_clock::now();
  const auto lines_of_iterations = [&shown] {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = shown.find("\x1b[Kiteration ", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  while (lines_of_iterations() < 3 && seconds_since(begin) < 20) {
    std::array<char, 4096> bytes;
    const ssize_t got = read(terminal, bytes.data(), bytes.size());
    if (got <= 0) break;
    shown.append(bytes.data(), static_cast<std::size_t>(got));
  }
  program.stop(SIGKILL);
  close(terminal);
  CAPTURE(shown);
  CHECK(lines_of_iterations() >= 3);
  CHECK(has(shown, ", to be 1.0e-08 ["));
}

TEST_CASE("progress of a graph cache is shown while it is checked") {
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  write_file(graph, read_file(source_dir() / "data" / "karate.mtx"));
  const std::vector<std::string> asked = {graph,     "--engine",   "cpu",
                                          "--cache", "--progress", "always"};
  CHECK_FALSE(has(run_pagerank(asked).err, "checking"));
  CHECK(has(run_pagerank(asked).err, "checking " + graph + ".prgraph"));
}

TEST_CASE("progress of compressed input counts compressed bytes") {
  const TemporaryDirectory files;
  const std::string graph = (files / "karate.mtx.gz").string();
  write_gzip_file(graph, read_file(source_dir() / "data" / "karate.mtx"));
  const RunResult run = run_pagerank({graph, "--engine", "cpu", "--progress", "always"});
  CHECK(has(run.err, "reading " + graph + ": 100 %"));
}

TEST_CASE("a signal stops the program while it reads, within a second") {
  for (const auto& [signal, status] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    RunningProgram program("pagerank", {"-", "--engine", "cpu"});
    std::this_thread::sleep_for(200ms);
    REQUIRE_FALSE(program.has_ended());
    const auto begin = std::chrono::steady_clock::now();
    CHECK(program.stop(signal) == status);
    CHECK(seconds_since(begin) < 1);
  }
}

TEST_CASE("a signal stops the program while it solves, within a second") {
  const TemporaryDirectory files;
  RunningProgram program("pagerank", long_solve(write_chain(files / "chain.mtx")));
  std::this_thread::sleep_for(500ms);
  REQUIRE_FALSE(program.has_ended());
  const auto begin = std::chrono::steady_clock::now();
  CHECK(program.stop(SIGINT) == 130);
  CHECK(seconds_since(begin) < 1);
}

TEST_CASE("an interrupted benchmark leaves no graph that it made behind") {
  const TemporaryDirectory files, made;
  const std::string log = (files / "log").string();
  write_file(log, "");
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", (made / "").c_str(), 1);
  RunningProgram program("pagerank-bench", {"load", "rmat:14x8", "--seconds", "100"}, log);
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  while (fs::is_empty(made / "") && !program.has_ended()) std::this_thread::sleep_for(1ms);
  REQUIRE_FALSE(fs::is_empty(made / ""));  // it has not ended: no signal for anybody else
  CHECK(program.stop(SIGINT) == 130);
  CHECK(fs::is_empty(made / ""));
}

TEST_CASE("a graph cache that is cut off while it is in use is bad input") {
  const TemporaryDirectory files;
  const std::string graph = write_chain(files / "chain.mtx"), cache = graph + ".prgraph";
  REQUIRE(run_pagerank({graph, "--cache", "--engine", "cpu", "--max-iterations", "1"}).status == 4);
  const std::string log = (files / "log").string();
  write_file(log, "");
  RunningProgram program("pagerank", long_solve(cache), log);
  while (!has(read_file(log), "engine: cpu") && !program.has_ended()) {
    std::this_thread::sleep_for(1ms);
  }
  fs::resize_file(cache, 4096);
  CHECK(program.status() == 3);
  CHECK(has(read_file(log), "pagerank: error: " + cache + ": the graph cache was cut off"));
}

TEST_CASE("no half-written file is left by who was stopped") {
  const TemporaryDirectory files;
  RunningProgram program("pagerank-bench",
                         {"--write", (files / "g.mtx").string(), "uniform:20x32"});
  CHECK(program.begins_to_write_in(files.path()));
  CHECK(program.stop(SIGTERM) == 143);
  CHECK(fs::is_empty(files.path()));
}

TEST_CASE("who is stopped while it writes scores leaves those that were there before") {
  const TemporaryDirectory files, results;
  const std::string graph = (files / "few.mtx").string();
  write_file(graph,
             "%%MatrixMarket matrix coordinate pattern general\n"
             "400000000 400000000 1\n1 2\n");  // so many lines to write
  const fs::path scores = results / "scores.tsv";
  write_file(scores, "before\n");
  RunningProgram program("pagerank", {graph, "--engine", "cpu", "--quiet", "--top", "0", "--output",
                                      scores.string(), "--report", (results / "r.json").string()});
  const auto file_count = [&] {
    return std::distance(fs::directory_iterator(results.path()), fs::directory_iterator());
  };
  REQUIRE(program.begins_to_write_in(results.path()));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(program.stop(SIGINT) == 130);
  CHECK(seconds_since(begin) < 1);
  CHECK(file_count() == 1);
  CHECK(read_file(scores) == "before\n");
}

TEST_CASE("who is stopped while it writes a cache leaves the one that was there before") {
  const TemporaryDirectory files;
  const fs::path graph = files / "g.mtx", cache = files / "g.mtx.prgraph";
  REQUIRE(run_program("pagerank-bench", {"--write", graph.string(), "uniform:19x16"}).status == 0);
  const auto file_count = [&] {
    return std::distance(fs::directory_iterator(files.path()), fs::directory_iterator());
  };
  // Writing takes some ten milliseconds, in which this may sleep: once in a while it comes too
  // late.
  bool stopped = false;
  for (int attempt = 0; attempt < 20 && !stopped; ++attempt) {
    write_file(cache, "before\n");  // (not a cache, which is why there will be another)
    RunningProgram program("pagerank", {graph.string(), "--engine", "cpu", "--quiet", "--cache"});
    if (!program.begins_to_write_in(files.path())) continue;
    const int status = program.stop(SIGTERM);
    CHECK(file_count() == 2);
    stopped = status == 143 && read_file(cache) == "before\n";
  }
  CHECK(stopped);
}

TEST_CASE("a signal stops the program while it waits for the reader of a pipe") {
  const TemporaryDirectory files;
  const std::string pipe = (files / "scores.tsv").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  RunningProgram program("pagerank", {(source_dir() / "data" / "karate.mtx").string(), "--engine",
                                      "cpu", "--quiet", "--top", "0", "--output", pipe});
  std::this_thread::sleep_for(300ms);
  REQUIRE_FALSE(program.has_ended());
  const auto begin = std::chrono::steady_clock::now();
  CHECK(program.stop(SIGTERM) == 143);
  CHECK(seconds_since(begin) < 1);
}

TEST_CASE("progress of a pipe counts what came through it") {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n2 2 200000\n";
  for (int k = 0; k < 200'000; ++k) text += "1 2\n";
  const TemporaryDirectory files;
  const std::string pipe = (files / "graph").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const char* const engine : {"cpu", "auto"}) {
    CAPTURE(engine);
    std::thread writer([&] { write_file(pipe, text); });
    const RunResult run = run_pagerank({pipe, "--engine", engine, "--progress", "always"});
    writer.join();
    CHECK(run.status == 0);
    CHECK(has(run.err, "reading " + pipe + ": 0.8 MB"));
  }
}

TEST_CASE("progress of a pipe is shown from its first byte on") {
  const TemporaryDirectory files;
  const std::string pipe = (files / "graph").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&pipe] {
    std::ofstream to(pipe, std::ios::binary);
    to << "%%MatrixMarket matrix coordinate pattern general\n" << std::flush;
    std::this_thread::sleep_for(3000ms);
    to << "2 2 200000\n";
    for (int k = 0; k < 200'000; ++k) to << "1 2\n";
  });
  const RunResult run = run_pagerank({pipe, "--engine", "cpu", "--progress", "always"});
  writer.join();
  CHECK(run.status == 0);
  CHECK(has(run.err, "reading " + pipe + ": 0.0 MB"));
}

TEST_CASE("unfinished files can be removed at any time") {
  const TemporaryDirectory files;
  const pid_t child = fork();
  if (child == 0) {
    io::AtomicFile kept((files / "kept").string());
    kept.commit();
    io::AtomicFile unfinished((files / "unfinished").string(),
                              io::AtomicFile::Until::temporary_name);
    unfinished.stream() << "half" << std::flush;
    io::remove_unfinished_files();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  CHECK(fs::exists(files / "kept"));
  CHECK(std::distance(fs::directory_iterator(files.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("where no thread is to be had for the display there is none") {
  pthread_attr_t usual, too_large;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  REQUIRE(pthread_getattr_default_np(&too_large) == 0);
  REQUIRE(pthread_attr_setstacksize(&too_large, std::size_t{1} << 47) == 0);  // all addresses
  REQUIRE(pthread_setattr_default_np(&too_large) == 0);
  CHECK_NOTHROW([] {
    app::ProgressDisplay display(true);
    const app::ProgressStep step(display, [] { return std::string("nothing"); });
  }());
  CHECK(pthread_setattr_default_np(&usual) == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace pagerank::tests
