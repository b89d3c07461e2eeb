// A libFuzzer target: any bytes as an edge list, compressed or not. The parallel reader must give
// what the simple one does, links, labels or message, so must the GPU's with the host in the GPU's
// place, and the matrix must be that of the links.
#include <cstdint>
#include <string>

#include "app/text_source.hpp"
#include "io/graph_reader.hpp"
#include "io/input_error.hpp"
#include "tests/emulated_parser.hpp"
#include "tests/fuzz_support.hpp"
#include "tests/simple_reader.hpp"
#include "tests/text_ranks.hpp"

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

/// The first bytes of a cache, and of what others than gzip compressed, are refused by the look at
/// the format alone: the readers take them as text.
void look_at_format(io::ByteSource& source, const std::string& path) {
  try {
    (void)io::format_of(source, path);
  } catch (const io::InputError& error) {
    const std::string message = error.what();
    for (const char* refusal : {"a graph cache", "which is not decompressed here"}) {
      if (message.find(refusal) != std::string::npos) return;
    }
    throw;
  }
}

io::LabelledEdgeList emulated_read(const std::string& path, const io::ReadOptions& options) {
  io::ByteSource source(path);
  io::EdgeListReader reader(source, options);
  app::TextSource entries(reader);
  gpu::TextRing ring(entries, options.threads, 2);
  EmulatedParser parser(entries.shape(), SourceIndex::row);
  gpu::read_entries(entries, ring, parser, options.threads);
  return parser.take_labelled_edges();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FuzzInput input = fuzz_input(data, size);
  const MemoryFile file(input.file);
  const std::string path = file.path();
  const io::ReadOptions options = read_options_for(size);
  const auto found = outcome_of([&] {
    io::ByteSource source(path);
    look_at_format(source, path);
    return io::read_edge_list(source, SourceIndex::row, options);
  });
  if (!input.text) return 0;
  const auto expected =
      outcome_of([&] { return simple_read_edges(*input.text, path, SourceIndex::row); });
  require(same(found, expected), "the readers differ", expected.error, found.error);
  const auto emulated = outcome_of([&] { return emulated_read(path, options); });
  require(same(emulated, expected), "the GPU's reader differs", expected.error, emulated.error);
  require(ranks_agree(path, options, expected), "the ranks differ", expected.error, "");
  if (expected.error.empty()) compare_matrices(path, options, expected.graph.edges);
  return 0;
}
