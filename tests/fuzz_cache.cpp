// A libFuzzer target: any bytes as a graph cache. Once as they are, and once with checksums and
// sizes made right, so that what lies behind them is reached. What is accepted must be a matrix
// that keeps its promises, and can be ranked, and is written again as the same bytes.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/ranking.hpp"
#include "io/graph_cache.hpp"
#include "io/input_error.hpp"
#include "tests/memory_file.hpp"

namespace {

using namespace pagerank;
namespace format = io::graph_cache;

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::abort();
}

/// What a file must have to get past the header and the checksums; the rest as it is.
std::string repaired(std::string bytes) {
  format::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const format::Header right;
  header.magic = right.magic;
  header.byte_order = right.byte_order;
  header.version = right.version;
  header.reserved = {};
  header.flags &= format::all_flags;
  constexpr std::uint64_t most_nodes = 2000, most_links = 10'000;
  header.nodes = (header.nodes - 1) % most_nodes + 1;
  header.links %= most_links;
  header.distinct_links %= header.links + 1;

  const format::Layout layout = format::layout_of(header);
  header.file_bytes = layout.file_bytes;
  bytes.resize(layout.file_bytes, '\0');
  std::string sections(bytes.size(), '\0');  // and zeros between them
  for (const format::Extent& section : layout.sections) {
    sections.replace(section.begin, section.bytes, bytes, section.begin, section.bytes);
  }
  header.content_checksum =
      format::content_checksum(format::contents_of(std::as_bytes(std::span(sections)), layout), 1,
                               [](format::Section, std::size_t, std::size_t) {});
  header.header_checksum = format::header_checksum(header);
  std::memcpy(sections.data(), &header, sizeof header);
  return sections;
}

void use(const io::CachedGraph& graph, const std::string& bytes) {
  const TransitionMatrix& matrix = graph.matrix;
  matrix.in_links.validate();  // throws what nobody catches
  std::vector<NodeId> dangling;
  for (NodeId node = 0; node < matrix.node_count(); ++node) {
    if (matrix.inverse_out_weight[node] == 0) dangling.push_back(node);
  }
  require(matrix.dangling == dangling, "the dangling nodes differ");

  CpuEngine engine(matrix, {.threads = 2});
  const Solution solution = engine.solve({}, {.max_iterations = 3});
  if (std::isfinite(solution.error_bound)) {
    require(rank_nodes(solution.scores).size() == matrix.node_count(), "nodes are missing");
    (void)certified_depth(solution.scores, solution.error_bound);
  }

  const tests::MemoryFile file("");
  io::write_graph_cache(file.path(), graph, 2);
  const io::MappedFile written(file.path());
  require(written.bytes().size() == bytes.size() &&
              std::memcmp(written.bytes().data(), bytes.data(), bytes.size()) == 0,
          "written again, the bytes differ");
}

void load_and_use(const std::string& bytes) {
  const tests::MemoryFile file(bytes);
  std::optional<io::CachedGraph> graph;
  try {
    graph = io::GraphCache(file.path()).load(1 + static_cast<int>(bytes.size() / 64 % 3));
  } catch (const io::InputError&) {
    return;
  }
  use(*graph, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  load_and_use(bytes);
  if (size >= sizeof(format::Header)) load_and_use(repaired(bytes));
  return 0;
}
