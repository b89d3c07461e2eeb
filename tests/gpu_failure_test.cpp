// What an engine, and the reader of texts, make of a device that fails: at each allocation, at each
// buffer of an upload. They say so, or do without, and never wait for what will not come.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "app/text_source.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/device_reader.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/process.hpp"
#include "io/edge_list_reader.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"
#include "tests/text_samples.hpp"

namespace pagerank::tests {
namespace {

/// As long as it lives the nth of those may fail, and so many in a row.
struct FailureAt {
  FailureAt(gpu::Failure failure, std::size_t nth, std::size_t in_a_row = 1) : what(failure) {
    gpu::fail_at(what, nth, in_a_row);
  }
  ~FailureAt() { gpu::fail_at(what, 0); }
  FailureAt(const FailureAt&) = delete;
  FailureAt& operator=(const FailureAt&) = delete;
  [[nodiscard]] bool is_to_come() const { return gpu::failure_is_to_come(what); }
  gpu::Failure what;
};

const SolveOptions accurate{.tolerance = 1e-9};

/// How often `Error` is thrown while an engine is made and solves, whose nth allocation or buffer
/// fails, for n from 1 until there are no more; whatever else comes of it has to be right.
template <class Error>
std::size_t errors_of(gpu::Failure failure, const TransitionMatrix& matrix,
                      const gpu::EngineOptions& options, std::span<const double> expected,
                      std::size_t in_a_row = 1) {
  std::size_t errors = 0;
  bool all = false;
  for (std::size_t nth = 1; !all; nth += 1 + nth / 16) {
    CAPTURE(nth);
    const FailureAt at(failure, nth, in_a_row);
    try {
      gpu::Engine engine(matrix, options);
      CHECK(l1_distance(engine.solve({}, accurate).scores, expected) < 1e-8);
    } catch (const Error&) {
      ++errors;
      CHECK_FALSE(at.is_to_come());
    }
    all = at.is_to_come();
  }
  return errors;
}

/// The same of the text at `path`, which is read and built into a matrix on the device.
template <class Reader>
std::size_t errors_of_reading(const std::string& path) {
  const auto matrix_of = [&path] {
    io::ByteSource source(path);
    Reader reader(source, {.block_bytes = 10'000});
    app::TextSource entries(reader);
    gpu::DeviceReader device(entries, {});
    device.read();
    return device.build(SourceIndex::row).download();
  };
  const TransitionMatrix expected = matrix_of();
  std::size_t errors = 0;
  bool all = false;
  for (std::size_t nth = 1; !all; ++nth) {
    CAPTURE(nth);
    const FailureAt at(gpu::Failure::allocation, nth);
    try {
      const TransitionMatrix found = matrix_of();  // (a CHECK would catch what it throws)
      CHECK(same_bits(found, expected));
    } catch (const OutOfMemory& error) {
      ++errors;
      CHECK_FALSE(at.is_to_come());
      CHECK(error.needed() > error.available());
    }
    all = at.is_to_come();
  }
  return errors;
}

}  // namespace

TEST_SUITE_BEGIN("gpu");

TEST_CASE("what is asked to fail does, the nth time and so many in a row") {
  for (const std::size_t in_a_row : {std::size_t{1}, std::size_t{3}}) {
    for (const std::size_t nth : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
      CAPTURE(in_a_row);
      CAPTURE(nth);
      const FailureAt at(gpu::Failure::upload, nth, in_a_row);
      for (std::size_t time = 1; time < 10; ++time) {
        CAPTURE(time);
        CHECK(at.is_to_come() == (nth != 0 && time <= nth));
        CHECK_FALSE(gpu::fails_now(gpu::Failure::loop));
        CHECK(gpu::fails_now(gpu::Failure::upload) ==
              (nth != 0 && nth <= time && time < nth + in_a_row));
      }
    }
  }
}

TEST_CASE("whichever allocation on the device fails, its reader of texts says so") {
  if (!has_gpu()) return;
  Random random(61);
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    write_file(path, long_text(weighted, random));
    CHECK(errors_of_reading<io::MatrixMarketReader>(path) > 5);
    // Labels all over 64 bits, and side by side.
    for (const std::uint64_t range : {std::uint64_t{0}, std::uint64_t{500}}) {
      CAPTURE(range);
      write_file(path, long_edge_list(weighted ? 3 : 2, range, random));
      CHECK(errors_of_reading<io::EdgeListReader>(path) > 5);
    }
  }
}

TEST_CASE("whichever allocation on the device fails, an engine says so or does without it") {
  if (!has_gpu()) return;
  for (const bool weighted : {false, true}) {
    const TransitionMatrix matrix = make_transition_matrix(generate_graph(
        {.kind = GraphKind::rmat, .nodes = 1 << 13, .links = 1 << 17, .weighted = weighted}));
    const auto expected = CpuEngine(matrix, {}).solve({}, accurate).scores;
    for (const std::string kernel : {"balanced", "blocked", "hybrid", "cusparse"}) {
      for (const Precision precision : {Precision::float64, Precision::mixed}) {
        CAPTURE(weighted);
        CAPTURE(kernel);
        CAPTURE(static_cast<int>(precision));
        const gpu::EngineOptions options{
            .kernel = kernel, .precision = precision, .upload_stretch = 10'000};
        const auto errors = [&](std::size_t in_a_row) {
          return errors_of<OutOfMemory>(gpu::Failure::allocation, matrix, options, expected,
                                        in_a_row);
        };
        const std::size_t of_one = errors(1);
        CHECK(of_one > 0);
        // Where less memory would do it is asked for once more: in the middle of a layout, too.
        if (kernel == "blocked") CHECK(errors(2) > of_one);
      }
    }
  }
}

TEST_CASE("auto does without the kernel of its choice where an allocation for that fails") {
  if (!has_gpu()) return;
  const TransitionMatrix matrix = make_transition_matrix(generate_graph(
      {.kind = GraphKind::rmat, .nodes = 1 << 20, .links = 1 << 23, .scramble = true}));
  const auto expected = CpuEngine(matrix, {}).solve({}, accurate).scores;
  const gpu::EngineOptions options{.expected = {.solves = 1000}, .precision = Precision::mixed};
  REQUIRE(gpu::Engine(matrix, options).kernel() == "blocked");
  std::size_t balanced = 0;
  for (std::size_t nth = 1; nth < 100; ++nth) {
    const FailureAt at(gpu::Failure::allocation, nth);
    try {
      gpu::Engine engine(matrix, options);
      if (at.is_to_come()) break;
      // (Where a piece for several arrays was asked for one for the first of them may do.)
      CHECK((engine.kernel() == "blocked" || engine.kernel() == "balanced"));
      if (engine.kernel() == "balanced") ++balanced;
      CHECK(l1_distance(engine.solve({}, accurate).scores, expected) < 1e-8);
    } catch (const OutOfMemory&) {
    }
  }
  CHECK(balanced > 0);
}

TEST_CASE("an engine whose loop cannot be made on the device loops on the host, to the same bits") {
  if (!has_gpu()) return;
  const TransitionMatrix matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 13, .links = 1 << 17}));
  // (Drivers before 12.4 cannot, and under a sanitizer it must not.)
  if (!gpu::Engine(matrix, {}).loops_on_device()) return;
  for (const std::string kernel : {"balanced", "blocked", "vector"}) {
    for (const Precision precision : {Precision::float64, Precision::mixed}) {
      const auto scores = [&](std::size_t nth) {
        const FailureAt at(gpu::Failure::loop, nth);
        gpu::Engine engine(matrix, {.kernel = kernel, .precision = precision});
        const bool first = nth == 1;
        CHECK(engine.loops_on_device() == !first);
        const Solution solution = engine.solve({}, accurate);
        CHECK(solution.converged);
        CHECK(at.is_to_come() == (nth == 2 && precision == Precision::float64));
        return std::vector<double>(solution.scores.begin(), solution.scores.end());
      };
      CAPTURE(kernel);
      CAPTURE(static_cast<int>(precision));
      const std::vector<double> expected = scores(0);
      CHECK(scores(1) == expected);  // of the ranks
      CHECK(scores(2) == expected);  // in mixed precision of the corrections
    }
  }
}

TEST_CASE("whichever buffer of an upload fails, the engine says so") {
  if (!has_gpu()) return;
  constexpr std::uint64_t nodes = 300'000;
  for (const bool weighted : {false, true}) {
    for (const std::uint64_t links : {3 * nodes, 9 * nodes}) {  // node arrays before, beside links
      const TransitionMatrix matrix = make_transition_matrix(generate_graph(
          {.kind = GraphKind::uniform, .nodes = nodes, .links = links, .weighted = weighted}));
      const auto expected = CpuEngine(matrix, {}).solve({}, accurate).scores;
      for (const std::string kernel : {"balanced", "blocked"}) {
        CAPTURE(weighted);
        CAPTURE(links);
        CAPTURE(kernel);
        const gpu::EngineOptions options{.kernel = kernel, .upload_stretch = 100'000};
        CHECK(errors_of<gpu::CudaError>(gpu::Failure::upload, matrix, options, expected) > 2);
      }
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
