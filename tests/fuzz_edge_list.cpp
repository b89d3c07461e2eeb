// A libFuzzer target: any bytes as an edge list. The parallel reader must give what the simple one
// does, links, labels or message, and the matrix must be that of the links.
#include <cstdint>
#include <string>

#include "io/graph_reader.hpp"
#include "tests/fuzz_support.hpp"
#include "tests/simple_reader.hpp"

namespace {

using namespace pagerank;
using namespace pagerank::tests;

void compare_matrices(const std::string& path, const io::ReadOptions& options, EdgeList edges) {
  io::ByteSource source(path);
  io::GraphReader reader(source, io::GraphFormat::edge_list, options);
  reader.read(SourceIndex::row);
  const TransitionMatrix expected = make_transition_matrix(std::move(edges), 1);
  require(same_bits(reader.build(), expected), "the matrices differ", "", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const MemoryFile file(text);
  const std::string path = file.path();
  const io::ReadOptions options = read_options_for(size);
  const auto found = outcome_of([&] {
    io::ByteSource source(path);
    (void)io::format_of(source, path);
    return io::read_edge_list(source, SourceIndex::row, options);
  });
  if (is_compressed(text)) return 0;
  const auto expected = outcome_of([&] { return simple_read_edges(text, path, SourceIndex::row); });
  require(same(found, expected), "the readers differ", expected.error, found.error);
  if (expected.error.empty()) compare_matrices(path, options, expected.graph.edges);
  return 0;
}
