// Memory of the host that the system does not page-lock.
#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/text_source.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/device_reader.hpp"
#include "gpu/page_lock.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/process.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/matrix_market_writer.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

/// While it lives no memory is locked that is only wished to be; nor are there locked buffers of
/// engines before, or others left for those behind.
struct Refusal {
  Refusal() { set(true); }
  ~Refusal() { set(false); }

 private:
  static void set(bool refused) {
    gpu::release_kept_memory();
    gpu::PageLock::refused = refused;
  }
};

}  // namespace

TEST_CASE("a lock that is only wished for may be refused, and is not asked for again") {
  if (!has_gpu()) return;
  using gpu::PageLock;
  const Refusal afterwards;
  PageLock::refused = false;
  std::vector<std::byte> memory(1 << 20), other(1 << 20);
  const PageLock lock(memory, PageLock::Need::required);
  CHECK(lock.locked());
  // The same pages again are what the driver refuses.
  CHECK_THROWS_AS(PageLock(memory, PageLock::Need::required), gpu::CudaError);
  CHECK(!PageLock::refused);
  CHECK(!PageLock(memory, PageLock::Need::wished).locked());
  CHECK(PageLock::refused);
  CHECK(!PageLock(other, PageLock::Need::wished).locked());
  CHECK(PageLock(other, PageLock::Need::required).locked());
}

TEST_CASE("a graph is read, built and ranked through memory that is not page-locked") {
  if (!has_gpu()) return;
  const Refusal refusal;
  const TemporaryDirectory files;
  const std::string path = (files / "graph.mtx").string();
  const EdgeList edges =
      generate_graph({.kind = GraphKind::rmat, .nodes = 1 << 18, .links = 1 << 22});
  std::ostringstream text;
  io::write_matrix_market(text, edges);
  write_file(path, text.str());
  const TransitionMatrix expected = make_transition_matrix(edges);
  io::ByteSource bytes(path);
  io::MatrixMarketReader reader(bytes);
  app::TextSource entries(reader);
  gpu::DeviceReader device(entries, {});
  device.read();
  gpu::DeviceMatrix matrix = device.build(SourceIndex::row);
  CHECK(same_bits(matrix.download(), expected));
  const SolveOptions to_tolerance{.tolerance = 1e-8};
  const Solution of_host = CpuEngine(expected, {}).solve({}, to_tolerance);
  const auto check = [&](gpu::Engine&& engine) {
    CHECK(l1_distance(engine.solve({}, to_tolerance).scores, of_host.scores) < 2e-8);
  };
  check(gpu::Engine(expected, {}));
  check(gpu::Engine(std::move(matrix), {}));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
