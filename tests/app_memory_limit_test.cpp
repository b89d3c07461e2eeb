// What the program makes of graphs that are larger than the memory there is, or claim to be.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/cpu_engine_options.hpp"
#include "app/host_memory.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

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

TEST_CASE("what a stream or a compressed file claims takes the memory of what comes") {
  std::string entries;
  for (int k = 0; k < 100'000; ++k) {
    entries += std::to_string(k + 1) + ' ' + std::to_string(k * 7 % 200'000 + 1) + " 3\n";
  }
  // For so many links there are addresses, and for so many there may be none.
  for (const char* const claim : {"60000000", "3000000000"}) {
    CAPTURE(claim);
    const std::string text = "%%MatrixMarket matrix coordinate real general\n200000 200000 " +
                             std::string(claim) + '\n' + entries;
    const auto check = [](const RunResult& run) {
      CHECK(run.status == 3);
      CHECK(has(run.err, "more entries than there is text for"));
      // 100000 links with weights take some megabytes, beside the program's own.
      if (measure_memory) CHECK(run.peak_bytes < 22'000'000);
    };
    const TemporaryDirectory files;
    const std::string compressed = (files / "g.mtx.gz").string(), pipe = (files / "pipe").string();
    write_gzip_file(compressed, text);
    check(run_pagerank({compressed, "--engine", "cpu", "--threads", "2"}));
    if (!measure_memory) continue;  // a sanitizer marks all addresses, too
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] { write_file(pipe, text); });
    check(run_pagerank({pipe, "--engine", "cpu", "--threads", "2"}));
    writer.join();
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

TEST_SUITE_END();
}  // namespace pagerank::tests
