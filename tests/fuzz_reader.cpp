// A libFuzzer target: any bytes as a Matrix Market file, compressed or not. The parallel reader
// must give what the simple one does, graph or message, so must the GPU's with the host in the
// GPU's place, and the matrix built on the way must be that of the edge list. The size of blocks
// and the number of threads come from the input too.
#include <cstdint>
#include <string>

#include "app/text_source.hpp"
#include "core/transition_builder.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/emulated_parser.hpp"
#include "tests/fuzz_support.hpp"
#include "tests/simple_reader.hpp"
#include "tests/text_ranks.hpp"

namespace {

using namespace pagerank;
using namespace pagerank::tests;

void compare_matrices(const std::string& path, const io::ReadOptions& options, EdgeList edges) {
  io::ByteSource source(path);
  io::MatrixMarketReader reader(source, options);
  TransitionMatrixBuilder builder(reader.shape());
  reader.read_into(builder, SourceIndex::row);
  const TransitionMatrix found = builder.build(options.threads);
  const TransitionMatrix expected = make_transition_matrix(std::move(edges), 1);
  require(same_bits(found, expected), "the matrices differ", "", "");
}

io::MatrixMarketGraph emulated_read(const std::string& path, const io::ReadOptions& options) {
  io::ByteSource source(path);
  io::MatrixMarketReader reader(source, options);
  app::TextSource entries(reader);
  gpu::TextRing ring(entries, options.threads, 2);
  EmulatedParser parser(entries.shape(), SourceIndex::row);
  gpu::read_entries(entries, ring, parser, options.threads);
  return {reader.header(), parser.take_edges()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FuzzInput input = fuzz_input(data, size);
  const MemoryFile file(input.file);
  const std::string path = file.path();
  const io::ReadOptions options = read_options_for(size);
  const auto found = outcome_of([&] {
    io::ByteSource source(path);
    return io::read_matrix_market(source, SourceIndex::row, options);
  });
  if (!input.text) return 0;
  const auto expected =
      outcome_of([&] { return simple_read(*input.text, path, SourceIndex::row); });
  require(same(found, expected), "the readers differ", expected.error, found.error);
  const auto emulated = outcome_of([&] { return emulated_read(path, options); });
  require(same(emulated, expected), "the GPU's reader differs", expected.error, emulated.error);
  require(ranks_agree(path, options, expected), "the ranks differ", expected.error, "");
  constexpr NodeId small = 1 << 16;
  if (expected.error.empty() && expected.graph.edges.node_count <= small) {
    compare_matrices(path, options, expected.graph.edges);
  }
  return 0;
}
