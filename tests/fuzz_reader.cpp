// A libFuzzer target: any bytes as a Matrix Market file. The parallel reader must give what the
// simple one does, graph or message, and the matrix built on the way that of the edge list. The
// size of blocks and the number of threads come from the input too.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/transition_builder.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/memory_file.hpp"
#include "tests/simple_reader.hpp"

namespace {

using namespace pagerank;

void require(bool holds, const char* what, const std::string& expected, const std::string& found) {
  if (holds) return;
  std::cerr << what << "\nexpected: " << expected << "\nfound: " << found << '\n';
  std::abort();
}

void compare_matrices(const std::string& path, const io::ReadOptions& options, EdgeList edges) {
  io::ByteSource source(path);
  io::MatrixMarketReader reader(source, options);
  TransitionMatrixBuilder builder(reader.shape());
  reader.read_into(builder, SourceIndex::row);
  const TransitionMatrix found = builder.build(options.threads);
  const TransitionMatrix expected = make_transition_matrix(std::move(edges), 1);
  require(found.in_links.row_offsets == expected.in_links.row_offsets &&
              found.in_links.column_indices == expected.in_links.column_indices &&
              found.in_links.values == expected.in_links.values &&
              found.inverse_out_weight == expected.inverse_out_weight,
          "the matrices differ", "", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const tests::MemoryFile file(text);
  const std::string path = file.path();
  constexpr std::size_t block_sizes[] = {1, 2, 7, 30, 1000, 65'536};
  const io::ReadOptions options{.threads = 1 + static_cast<int>(size % 3),
                                .block_bytes = block_sizes[size / 3 % 6]};
  const tests::ReadOutcome found = tests::outcome_of([&] {
    io::ByteSource source(path);
    return io::read_matrix_market(source, SourceIndex::row, options);
  });
  if (text.starts_with("\x1f\x8b")) return 0;  // compressed: the simple reader cannot
  const tests::ReadOutcome expected =
      tests::outcome_of([&] { return tests::simple_read(text, path, SourceIndex::row); });
  require(tests::same(found, expected), "the readers differ", expected.error, found.error);
  constexpr NodeId small = 1 << 16;
  if (expected.error.empty() && expected.graph.edges.node_count <= small) {
    compare_matrices(path, options, expected.graph.edges);
  }
  return 0;
}
