// --cache, --cache-dir and the files that they leave, as the program's users meet them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>
#include <tuple>

#include "io/graph_cache.hpp"
#include "tests/cache_workplace.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

const std::string saved = "cached in ", taken = "; from ";

/// As before at its end.
struct Umask {
  Umask() : before(umask(0)) { umask(before); }
  ~Umask() { umask(before); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  mode_t before;
};

/// A run that did not take the graph from the cache but made it anew, and one that takes it now.
void check_renewed(const Workplace& place, const char* because,
                   const std::vector<std::string>& options = {"--cache"}) {
  const RunResult first = place.run(options), second = place.run(options);
  CAPTURE(first.err);
  CHECK(first.status == 0);
  CHECK(has(first.err, because));
  CHECK(has(first.err, saved));
  CHECK_FALSE(has(first.err, taken));
  CHECK(has(second.err, taken));
  CHECK(first.out == second.out);
}

}  // namespace

TEST_CASE("--cache keeps the graph for the next run, which prints and writes the same") {
  for (const char* graph : {"data/wb-cs-stanford.mtx", "data/netscience.mtx",
                            "data/wiki-Vote.mtx.gz", "tests/data/conformance/valid/fmm_eye3.mtx"}) {
    CAPTURE(graph);
    const TemporaryDirectory files;
    const fs::path name = fs::path(graph).filename(), path = files / name.string();
    fs::copy_file(source_dir() / graph, path);
    const auto run = [&](const std::string& output, bool cached) {
      std::vector<std::string> arguments = {path.string(),
                                            "--engine",
                                            "cpu",
                                            "--output",
                                            (files / (output + ".tsv")).string(),
                                            "--report",
                                            (files / (output + ".json")).string()};
      if (cached) arguments.push_back("--cache");
      return run_pagerank(arguments);
    };
    const auto report = [&](const std::string& output) {
      return nlohmann::json::parse(read_file(files / (output + ".json")));
    };
    const RunResult plain = run("plain", false);
    const std::string cache = path.string() + ".prgraph";
    CHECK_FALSE(fs::exists(cache));
    const RunResult first = run("first", true);
    CHECK(fs::exists(cache));
    const auto written = fs::last_write_time(cache);
    const RunResult second = run("second", true);
    CHECK(written == fs::last_write_time(cache));

    CHECK(has(first.err, saved + cache));
    CHECK_FALSE(has(first.err, taken));
    CHECK(has(second.err, taken + cache));
    CHECK_FALSE(has(second.err, saved));
    for (const RunResult* result : {&plain, &first, &second}) {
      CHECK(result->status == 0);
      CHECK(result->out == plain.out);
    }
    CHECK(read_file(files / "first.tsv") == read_file(files / "plain.tsv"));
    CHECK(read_file(files / "second.tsv") == read_file(files / "plain.tsv"));
    CHECK(report("first")["graph"]["cache"].is_null());
    CHECK(report("first")["seconds"]["cache"] > 0);
    CHECK(report("second")["graph"]["cache"] == cache);
    CHECK(report("second")["seconds"]["cache"] == 0);
    auto first_graph = report("first")["graph"], second_graph = report("second")["graph"];
    first_graph.erase("cache");
    second_graph.erase("cache");
    CHECK(first_graph == second_graph);
  }
}

TEST_CASE("a graph that is built right into the engine's layout is ranked as one from a cache") {
  // So many links that they are laid out, by both; as an edge list nodes have ids of their own.
  const TemporaryDirectory files;
  const fs::path matrix = files / "g.mtx", edges = files / "g.txt";
  REQUIRE(run_program("pagerank-bench", {"--write", matrix.string(), "rmat:17x16"}).status == 0);
  std::string text = read_file(matrix);
  text.erase(0, text.find('\n', text.find("131072 131072")) + 1);
  write_file(edges, text);
  for (const fs::path& path : {matrix, edges}) {
    CAPTURE(path);
    const auto run = [&](const std::string& output, const std::vector<std::string>& options) {
      std::vector<std::string> arguments = {path.string(),
                                            "--engine",
                                            "cpu",
                                            "--tolerance",
                                            "1e-9",
                                            "--output",
                                            (files / (output + ".tsv")).string(),
                                            "--report",
                                            (files / (output + ".json")).string()};
      arguments.insert(arguments.end(), options.begin(), options.end());
      CHECK(run_pagerank(arguments).status == 0);
      auto report = nlohmann::json::parse(read_file(files / (output + ".json")));
      report["graph"].erase("cache");
      return std::tuple(read_file(files / (output + ".tsv")), report["graph"], report["iterations"],
                        report["residual_history"]);
    };
    CHECK(has(run_pagerank({path.string(), "--engine", "cpu", "--verbose"}).err, "laid out"));
    const auto laid_out = run("laid-out", {});
    CHECK(std::get<1>(laid_out)["entries"] == 1 << 21);
    CHECK(run("many threads", {"--threads", "5"}) == laid_out);
    CHECK(run("to be cached", {"--cache"}) == laid_out);
    CHECK(run("from a cache", {"--cache"}) == laid_out);
    CHECK(run("in double", {"--precision", "double"}) ==
          run("in double, from a cache", {"--precision", "double", "--cache"}));
  }
}

TEST_CASE("a graph that changes while it is read is ranked, but not kept") {
  const Workplace place;
  const std::string unchanged = place.run({}).out;
  const auto begin = fs::last_write_time(place.path());
  RunResult run;
  {
    // Another time of its last change as often as the file system lets it be set.
    const std::jthread changing([&](const std::stop_token& stop) {
      for (int i = 1; !stop.stop_requested(); ++i) {
        fs::last_write_time(place.path(), begin + std::chrono::seconds(i));
      }
    });
    // A file system that is busy may hold up a change for longer than a run takes, and a graph that
    // did not change is kept: so until one did.
    for (int runs = 0; runs < 200; ++runs) {
      run = place.run();
      if (!fs::exists(place.cache())) break;
      fs::remove(place.cache());
    }
  }
  CHECK(run.status == 0);
  CHECK(has(run.err, "g.mtx: changed while it was read, it is not cached"));
  CHECK(place.files() == std::vector<std::string>{"g.mtx"});
  CHECK(run.out == unchanged);
  CHECK(place.run().out == unchanged);
  CHECK(fs::exists(place.cache()));
}

TEST_CASE("a cache of a graph that has changed since is made anew") {
  const Workplace place;
  check_renewed(place, saved.c_str());
  const auto time = fs::last_write_time(place.path());
  const std::string text = read_file(place.path());

  SUBCASE("another size") {
    place.write_graph(text + "\n");
    fs::last_write_time(place.path(), time);
    check_renewed(place, "has changed since");
  }
  SUBCASE("another time") {
    fs::last_write_time(place.path(), time + std::chrono::nanoseconds(1));
    check_renewed(place, "has changed since");
  }
  SUBCASE("the same size and time") {
    const std::string before = place.run().out;
    std::string changed = text;
    const std::size_t last_line = text.rfind('\n', text.size() - 2);
    changed[changed.size() - 2] = changed[changed.size() - 2] == '1' ? '2' : '1';
    REQUIRE(changed.substr(0, last_line) == text.substr(0, last_line));
    place.write_graph(changed);
    fs::last_write_time(place.path(), time);
    check_renewed(place, "has changed since");
    CHECK(place.run().out != before);
  }
  SUBCASE("read the other way") {
    check_renewed(place, "made with --source row", {"--cache", "--source", "column"});
    check_renewed(place, "made with --source column");
  }
}

TEST_CASE("a cache that cannot be used is made anew, with a warning") {
  const Workplace place;
  check_renewed(place, saved.c_str());
  const std::string cache = read_file(place.cache());
  const auto damage = [&](const std::string& bytes, const char* because) {
    write_file(place.cache(), bytes);
    check_renewed(place, because);
    CHECK(read_file(place.cache()) == cache);
  };
  damage("", "shorter than a header");
  damage("rubbish", "damaged graph cache");
  damage(cache.substr(0, cache.size() / 2), "bytes, expected");
  std::string changed = cache;
  changed[300] = static_cast<char>(changed[300] ^ 1);
  damage(changed, "the checksum differs; it is made anew");
  changed = cache;
  changed[12] = 99;  // the version
  damage(changed, "graph cache of format 99");
  write_file(place.cache(), "");
  CHECK(has(place.run({"--cache", "--quiet"}).err, "warning"));  // even then
}

TEST_CASE("--cache-dir keeps graphs of the same name apart") {
  const Workplace place;
  for (const char* directory : {"other", "caches"}) fs::create_directory(place / directory);
  write_file(place / "other/g.mtx", read_file(source_dir() / "data/four.mtx"));
  const auto run = [&](const fs::path& graph) {
    return run_pagerank(
        {graph.string(), "--cache-dir", (place / "caches").string(), "--engine", "cpu"});
  };
  const RunResult one = run(place.path()), other = run(place / "other/g.mtx");
  CHECK(one.out != other.out);
  CHECK(std::distance(fs::directory_iterator(place / "caches"), {}) == 2);
  CHECK_FALSE(fs::exists(place.cache()));
  for (const auto& [graph, expected] :
       {std::pair{place.path(), one.out}, {place / "other/g.mtx", other.out}}) {
    const RunResult again = run(graph);
    CHECK(has(again.err, taken + (place / "caches").string()));
    CHECK(again.out == expected);
  }
  CHECK(run_pagerank({place.path().string(), "--cache-dir", (place / "none").string()}).status ==
        2);
}

TEST_CASE("a graph that cannot be cached is ranked, with a warning") {
  const Workplace place;
  const std::string expected = place.run({}).out;
  SUBCASE("no place to write to") {
    const RunResult run = place.run({"--cache-dir", "/proc"});
    CHECK(run.status == 0);
    CHECK(run.out == expected);
    CHECK(has(run.err, "warning: cannot write /proc/g.mtx."));
    CHECK(has(run.err, "g.mtx is not cached"));
  }
  SUBCASE("a full disk") {
    const RunResult run =
        run_program("/bin/sh", {"-c", "ulimit -f 2; exec \"$@\"", "sh", path_of_program("pagerank"),
                                place.path().string(), "--cache", "--engine", "cpu", "--top", "1"});
    CHECK(run.status == 0);
    CHECK(has(run.out, "rank\tnode\tscore\n1\t34\t"));
    CHECK(has(run.err, "warning: cannot write "));
    CHECK(has(run.err, "File too large"));
    CHECK(place.files() == std::vector<std::string>{"g.mtx"});
  }
  SUBCASE("standard input") {
    const RunResult run =
        run_pagerank({"-", "--cache", "--engine", "cpu", "--top", "99"}, read_file(place.path()));
    CHECK(run.status == 0);
    CHECK(run.out == expected);
    CHECK(has(run.err, "warning: standard input is not cached"));
  }
  SUBCASE("standard input by another name") {
    const RunResult run = run_program_on(
        "pagerank", {"/dev/stdin", "--cache", "--engine", "cpu", "--top", "99"}, place.path());
    CHECK(run.status == 0);
    CHECK(run.out == expected);
    CHECK(has(run.err, "it is not cached"));
  }
  SUBCASE("a directory in the cache's place") {
    fs::create_directory(place.cache());
    const RunResult run = place.run();
    CHECK(run.status == 0);
    CHECK(run.out == expected);
    CHECK(has(run.err, "g.mtx.prgraph is not a regular file"));
    CHECK_FALSE(has(run.err, "made anew"));
    CHECK(fs::is_directory(place.cache()));
  }
  SUBCASE("what is no graph") {
    place.write_graph("rubbish\n");
    CHECK(place.run().status == 3);
    CHECK(place.files() == std::vector<std::string>{"g.mtx"});
  }
}

TEST_CASE("a cache is not for others to read than the graph is") {
  const Workplace place;
  const auto permissions = [&] { return fs::status(place.cache()).permissions(); };
  const Umask umask_restored;
  umask(022);
  fs::permissions(place.path(), fs::perms{0604});
  CHECK(place.run().status == 0);
  CHECK(permissions() == fs::perms{0604});
  place.write_graph(read_file(source_dir() / "data/four.mtx"));
  fs::permissions(place.path(), fs::perms{0400});
  CHECK(has(place.run().err, saved));
  CHECK(permissions() == fs::perms{0600});  // it can be made anew
  fs::remove(place.cache());
  umask(027);
  fs::permissions(place.path(), fs::perms{0644});
  CHECK(has(place.run().err, saved));
  CHECK(permissions() == fs::perms{0640});
  if (getuid() != 0) return;
  // Members of the graph's group may be others there, and others members of the cache's.
  for (const auto& [graph, cache] : {std::pair{0640U, 0600U}, {0604U, 0600U}, {0644U, 0640U}}) {
    CAPTURE(graph);
    fs::remove(place.cache());
    CHECK(chown(place.path().c_str(), 0, getegid() + 1) == 0);
    fs::permissions(place.path(), static_cast<fs::perms>(graph));
    CHECK(has(place.run().err, saved));
    CHECK(permissions() == static_cast<fs::perms>(cache));
  }
}

TEST_CASE("a cache that there are no addresses for is not called a bad one") {
  if (!measure_memory) return;  // the sanitizer wants more of them
  const Workplace place;
  const fs::path huge = place / "huge.prgraph";
  REQUIRE(place.run().status == 0);
  fs::copy_file(place.cache(), huge);
  fs::resize_file(huge, std::uintmax_t{1} << 33);  // (takes no room)
  const RunResult run =
      run_program("/bin/sh", {"-c", "ulimit -v 4000000; exec \"$@\"", "sh",
                              path_of_program("pagerank"), huge.string(), "--engine", "cpu"});
  CHECK(run.status == 5);
  CHECK(has(run.err, "memory"));
}

TEST_CASE("processes that cache one graph at once all rank it, and leave one whole cache") {
  const TemporaryDirectory files;
  const fs::path path = files / "g.mtx";
  fs::copy_file(source_dir() / "data/wb-cs-stanford.mtx", path);
  const std::string expected = run_pagerank({path.string(), "--engine", "cpu"}).out;
  for (int round = 0; round < 3; ++round) {
    fs::remove(files / "g.mtx.prgraph");
    std::vector<std::future<RunResult>> runs(6);
    for (auto& run : runs) {
      run = std::async(std::launch::async, [&] {
        return run_pagerank({path.string(), "--cache", "--engine", "cpu", "--threads", "1"});
      });
    }
    for (auto& run : runs) {
      const RunResult result = run.get();
      CHECK(result.status == 0);
      CHECK(result.out == expected);
      CHECK_FALSE(has(result.err, "warning"));
    }
    CHECK_NOTHROW((void)io::GraphCache((files / "g.mtx.prgraph").string()).load());
    CHECK(std::distance(fs::directory_iterator(files.path()), {}) == 2);  // no temporary ones
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
