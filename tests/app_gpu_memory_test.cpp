// What becomes of a graph for which the GPU has too little memory. Each run is a process of its
// own.
#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/program_text.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("app");

namespace {

struct Bytes {
  std::uint64_t needed = 0, available = 0;
};

/// That a message of too little memory names; zeros if it names none.
Bytes bytes_in(const std::string& message) {
  std::smatch match;
  const std::regex both("about ([0-9]+) bytes needed, ([0-9]+) bytes available");
  if (!std::regex_search(message, match, both)) return {};
  return {std::stoull(match[1]), std::stoull(match[2])};
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& option,
                              const std::string& value) {
  arguments.insert(arguments.end(), {option, value});
  return arguments;
}

/// A ring with a chord from every node, as Matrix Market text.
std::string ring_with_chords(std::uint64_t nodes, const std::string& field, bool weighted) {
  const std::string n = std::to_string(nodes);
  std::string text = "%%MatrixMarket matrix coordinate " + field + " general\n" + n + ' ' + n +
                     ' ' + std::to_string(2 * nodes) + '\n';
  for (std::uint64_t i = 0; i < nodes; ++i) {
    for (const std::uint64_t target : {(i + 1) % nodes, (i * 7 + 3) % nodes}) {
      text +=
          std::to_string(i + 1) + ' ' + std::to_string(target + 1) + (weighted ? " 2.5\n" : "\n");
    }
  }
  return text;
}

/// The same as an edge list, its nodes called `factor` times their numbers.
std::string ring_edge_list(std::uint64_t nodes, std::uint64_t factor, bool weighted) {
  std::string text = "# a ring with chords\n";
  for (std::uint64_t i = 0; i < nodes; ++i) {
    for (const std::uint64_t target : {(i + 1) % nodes, (i * 7 + 3) % nodes}) {
      text += std::to_string(i * factor);
      text += '\t';
      text += std::to_string(target * factor);
      text += weighted ? "\t2.5\n" : "\n";
    }
  }
  return text;
}

/// Large enough that one thread of the host would leave it to the GPU.
constexpr std::uint64_t many_nodes = 700'000;

}  // namespace

TEST_CASE("--gpu-memory limits nothing where the CPU ranks") {
  const RunResult run = run_pagerank(
      {(source_dir() / "data/karate.mtx").string(), "--engine", "cpu", "--gpu-memory", "1"});
  CHECK(run.status == 0);
}

TEST_CASE("the GPU's reader exits 5 with needed and available bytes, and reads with that many") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.mtx").string(), stream = (files / "g.mtx.gz").string();
  for (const bool weighted : {false, true}) {
    const std::string field = weighted ? "real" : "pattern";
    CAPTURE(field);
    const std::string text = ring_with_chords(20'000, field, weighted);
    write_file(file, text);
    write_gzip_file(stream, text);
    for (const std::string& graph : {file, stream}) {
      CAPTURE(graph);
      const std::vector<std::string> asked = {graph, "--reader", "device"};
      const RunResult refused = run_pagerank(with(asked, "--gpu-memory", "1M"));
      CHECK(refused.status == 5);
      CHECK(refused.out.empty());
      const Bytes bytes = bytes_in(refused.err);
      CHECK(bytes.available == 1 << 20);
      REQUIRE(bytes.needed > 40'000 * 20);
      CHECK(run_pagerank(with(asked, "--gpu-memory", std::to_string(bytes.needed))).status == 0);
      const RunResult short_of_one =
          run_pagerank(with(asked, "--gpu-memory", std::to_string(bytes.needed - 1)));
      CHECK(short_of_one.status == 5);
      CHECK(bytes_in(short_of_one.err).needed == bytes.needed);
      CHECK(bytes_in(short_of_one.err).available == bytes.needed - 1);
    }
  }
}

TEST_CASE("edge lists too are read by the GPU within --gpu-memory, or refused with both numbers") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string file = (files / "g.txt").string(), stream = (files / "g.txt.gz").string();
  for (const std::uint64_t factor : {std::uint64_t{1}, std::uint64_t{0x9E3779B97F4A7C15}}) {
    for (const bool weighted : {false, true}) {
      CAPTURE(factor);
      CAPTURE(weighted);
      const std::string text = ring_edge_list(20'000, factor, weighted);
      write_file(file, text);
      write_gzip_file(stream, text);
      for (const std::string& graph : {file, stream}) {
        CAPTURE(graph);
        const std::vector<std::string> asked = {graph, "--quiet", "--reader", "device"};
        RunResult run = run_pagerank(with(asked, "--gpu-memory", "1M"));
        CHECK(run.status == 5);
        CHECK(run.out.empty());
        CHECK(bytes_in(run.err).available == 1 << 20);
        // How many links there are, how their labels lie and how many nodes they name is known one
        // after the other.
        std::uint64_t given = 1 << 20;
        for (int refusals = 1; run.status == 5; ++refusals) {
          const std::uint64_t needed = bytes_in(run.err).needed;
          REQUIRE(needed > given);
          REQUIRE(refusals < 20);
          given = needed;
          run = run_pagerank(with(asked, "--gpu-memory", std::to_string(given)));
        }
        CHECK(run.status == 0);
        CHECK(given > 40'000 * 20);
        CHECK(given < 1 << 30);
      }
    }
  }
}

TEST_CASE("a stream that claims more entries than any GPU holds is refused for those it lacks") {
  if (!has_gpu()) return;
  const std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n5 5 4611686018427387904\n1 2\n";
  const RunResult device =
      run_pagerank({"-", "--quiet", "--reader", "device", "--gpu-memory", "1G"}, text);
  const RunResult host = run_pagerank({"-", "--quiet", "--reader", "host"}, text);
  CHECK(device.status == 3);
  CHECK(host.status == 3);
  CHECK(device.err == host.err);
}

TEST_CASE("--reader auto leaves a text that the GPU has no memory for to the host") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string report = (files / "r.json").string();
  for (const char* const name : {"g.mtx", "g.txt"}) {
    CAPTURE(name);
    const std::string graph = (files / name).string();
    write_file(graph, graph.ends_with(".mtx") ? ring_with_chords(many_nodes, "pattern", false)
                                              : ring_edge_list(many_nodes, 3, false));
    REQUIRE(fs::file_size(graph) > 13 << 20);
    const std::vector<std::string> asked = {graph,      "--threads", "1",   "--kernel",
                                            "balanced", "--report",  report};
    const auto reader_of = [&] {
      const auto told = nlohmann::json::parse(read_file(report));
      const auto& seconds = told["seconds"];
      CHECK(sum_of_phases(seconds) ==
            doctest::Approx(seconds["total"].get<double>()).epsilon(0.01));
      return told["reader"];
    };

    const RunResult plenty = run_pagerank(asked);
    CHECK(plenty.status == 0);
    CHECK(reader_of() == "device");
    CHECK_FALSE(has(plenty.err, "the host reads"));

    // Buffers for text alone are more than this, the graph is not.
    const RunResult little = run_pagerank(with(asked, "--gpu-memory", "100M"));
    CHECK(little.status == 0);
    CHECK(reader_of() == "host");
    CHECK(has(little.err, "the host reads the text: not enough memory on "));
    CHECK(bytes_in(little.err).available == 100 << 20);
    CHECK(bytes_in(little.err).needed > 100 << 20);
    CHECK(has(little.err, "engine: gpu"));
    CHECK(little.out == plenty.out);

    // Nor is the graph.
    const RunResult less = run_pagerank(with(asked, "--gpu-memory", "1M"));
    CHECK(less.status == 0);
    CHECK(reader_of() == "host");
    CHECK(has(less.err, "the host reads the text: "));
    CHECK(has(less.err, "ranking on the CPU"));
  }
}

TEST_CASE("--reader auto has the host read again what the GPU holds no engine of") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string report = (files / "r.json").string(), graph = (files / "g.mtx").string();
  // A ring, and one row so long that ELL pads all others to eight times their length: with weights
  // in double that takes more memory than to read the text.
  constexpr std::uint64_t nodes = 3'000'000, longest = 8;
  std::string text = "%%MatrixMarket matrix coordinate integer general\n" + std::to_string(nodes) +
                     ' ' + std::to_string(nodes) + ' ' + std::to_string(nodes + longest - 1) + '\n';
  for (std::uint64_t i = 1; i < nodes; ++i) {
    text += std::to_string(i) + ' ' + std::to_string(i + 1) + " 2\n";
  }
  for (std::uint64_t i = 0; i < longest; ++i) text += std::to_string(nodes - i) + " 1 2\n";
  write_file(graph, text);
  const std::vector<std::string> asked = {graph,         "--threads", "1",        "--kernel", "ell",
                                          "--precision", "double",    "--report", report};
  int first = 0, again = 0, never = 0;
  for (std::uint64_t limit = 64; limit < 1024; limit += limit / 4) {
    CAPTURE(limit);
    const RunResult run = run_pagerank(with(asked, "--gpu-memory", std::to_string(limit) + 'M'));
    REQUIRE(run.status == 0);
    const auto told = nlohmann::json::parse(read_file(report));
    const auto& seconds = told["seconds"];
    CHECK(sum_of_phases(seconds) == doctest::Approx(seconds["total"].get<double>()).epsilon(0.01));
    CHECK(has(run.out, "\n"));
    if (told["engine"] == "gpu") {
      ++never;
      CHECK(told["reader"] == "device");
      continue;
    }
    CHECK(told["reader"] == "host");
    CHECK(seconds["context"] == 0);
    CHECK(seconds["stream"] == 0);
    first += has(run.err, "the host reads the text: ") ? 1 : 0;
    again += has(run.err, "the host reads the text again: ") ? 1 : 0;
  }
  CHECK(first > 0);
  CHECK(again > 0);
  CHECK(never > 0);
}

TEST_CASE("the GPU's engine keeps to --gpu-memory: exit 5 where it was asked for by name") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  write_file(graph, ring_with_chords(20'000, "real", true));
  const std::vector<std::string> asked = {graph, "--reader", "host", "--engine", "gpu"};
  const RunResult refused = run_pagerank(with(asked, "--gpu-memory", "100K"));
  CHECK(refused.status == 5);
  CHECK(refused.out.empty());
  const Bytes bytes = bytes_in(refused.err);
  CHECK(bytes.available == 100 << 10);
  REQUIRE(bytes.needed > 40'000 * 12);
  CHECK(run_pagerank(with(asked, "--gpu-memory", std::to_string(bytes.needed))).status == 0);
  CHECK(run_pagerank(with(asked, "--gpu-memory", std::to_string(bytes.needed - 1))).status == 5);
}

TEST_CASE("a kernel's preparation keeps to --gpu-memory as well") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string graph = (files / "g.mtx").string();
  write_file(graph, ring_with_chords(200'000, "pattern", false));
  const std::vector<std::string> asked = {graph,      "--quiet", "--reader", "host",
                                          "--engine", "gpu",     "--kernel", "blocked"};
  // What links take to be sorted, how many runs they make and what those take is known one after
  // the other.
  std::uint64_t given = 1 << 20;
  RunResult run = run_pagerank(with(asked, "--gpu-memory", std::to_string(given)));
  CHECK(run.status == 5);
  for (int refusals = 1; run.status == 5; ++refusals) {
    const Bytes bytes = bytes_in(run.err);
    CHECK(run.out.empty());
    CHECK(bytes.available == given);
    REQUIRE(bytes.needed > given);
    REQUIRE(refusals < 20);
    given = bytes.needed;
    run = run_pagerank(with(asked, "--gpu-memory", std::to_string(given)));
  }
  CHECK(run.status == 0);
  CHECK(given > 400'000 * 24);
  CHECK(given < 400'000 * 500);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
