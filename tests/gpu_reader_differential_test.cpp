// The GPU's reader against the simple one: the same graph, the same matrix, bit for bit, or the
// same message, on the conformance files, on long files and on mutations of both.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/text_source.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/pagerank.hpp"
#include "io/line_blocks.hpp"
#include "io/matrix_market_writer.hpp"
#include "tests/changing_text.hpp"
#include "tests/compressed_samples.hpp"
#include "tests/device_readers.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/text_samples.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("the GPU's reader reads blocks that are joined on their way like others") {
  if (!has_gpu()) return;
  const io::ReadOptions options{.threads = 3, .block_bytes = io::LineBlocks::longest_line};
  for (const std::string& text : texts_of_full_blocks()) {
    BothReaders<DeviceReaders>(text).check(options, false);
  }
}

TEST_CASE_TEMPLATE(
    "the GPU's reader agrees with the simple one on conformance files and mutations of them",
    Readers, DeviceReaders, DeviceEdgeListReaders) {
  if (!has_gpu()) return;
  Random random(25);
  const std::vector<std::string> texts = texts_of(Readers::corpus);
  for (int round = 0; round < 4; ++round) {
    for (const std::string& text : texts) {
      BothReaders<Readers> readers(round == 0 ? text : mutate(text, random));
      for (const std::size_t block_bytes :
           {std::size_t{64}, round == 0 ? std::size_t{1} : std::size_t{1} << 20}) {
        readers.check({.threads = 4, .block_bytes = block_bytes}, random() % 4 == 0);
      }
    }
  }
}

TEST_CASE_TEMPLATE("the GPU's reader too reports a bad line before damage, and else the damage",
                   Readers, DeviceReaders, DeviceEdgeListReaders) {
  if (!has_gpu()) return;
  for (const TextBeforeDamage& sample : texts_before_damage<Readers>()) {
    check_bad_ends<Readers>(sample, {7, 1 << 20}, {4});
  }
}

TEST_CASE_TEMPLATE("the GPU's reader too refuses a file that changes while it is read", Readers,
                   DeviceReaders, DeviceEdgeListReaders) {
  if (!has_gpu()) return;
  check_changed_files<Readers>({7, 1 << 20}, {4});
  check_bad_line_before_new_end<Readers>({1, 4});
}

TEST_CASE_TEMPLATE("the GPU's reader agrees with the simple one on what fuzzing kept", Readers,
                   DeviceReaders, DeviceEdgeListReaders) {
  if (!has_gpu()) return;
  int read = 0;
  for (const std::string& text : texts_of_fuzzing(Readers::fuzz_kind)) {
    BothReaders<Readers> readers(text);
    readers.check({.threads = 4, .block_bytes = 64}, false);
    readers.check({.threads = 4}, read % 8 == 0);
    ++read;
  }
  MESSAGE(read << " inputs of " << std::string(Readers::fuzz_kind));
}

TEST_CASE("the GPU's reader agrees with the simple one on long files and mutations of them") {
  if (!has_gpu()) return;
  Random random(26);
  for (const bool weighted : {false, true}) {
    const std::string text = long_text(weighted, random);
    for (int round = 0; round < 60; ++round) {
      BothReaders<DeviceReaders> readers(round == 0 ? text : mutate(text, random));
      for (const std::size_t block_bytes : {std::size_t{1000}, block_sizes.back()}) {
        readers.check({.threads = 6, .block_bytes = block_bytes}, random() % 8 == 0);
      }
    }
  }
}

TEST_CASE("the GPU's reader agrees with the simple one on long edge lists") {
  if (!has_gpu()) return;
  Random random(29);
  for (const std::uint64_t range : {std::uint64_t{500}, std::uint64_t{1} << 33, std::uint64_t{0}}) {
    for (const int columns : {2, 3, 4}) {
      const std::string text = long_edge_list(columns, range, random);
      for (int round = 0; round < 12; ++round) {
        BothReaders<DeviceEdgeListReaders> readers(round == 0 ? text : mutate(text, random));
        for (const std::size_t block_bytes : {std::size_t{1000}, block_sizes.back()}) {
          for (const bool streamed : {false, true}) {  // memory grows with what comes
            readers.check({.threads = 6, .block_bytes = block_bytes}, streamed);
          }
        }
      }
    }
  }
}

/// Edge lists whose labels lie in all ways that the GPU tells apart.
std::vector<std::string> numbering_texts() {
  std::vector<std::string> texts = {
      "1 1\n",
      "1 2\n2 3\n",
      "2 3\n3 2\n",
      "0 1\n1 2\n",
      "5 6\n6 7\n7 5\n",
      "0 63\n64 65\n127 128\n",
      "18446744073709551615 18446744073709551614\n",
      "18446744073709551615 18446744073709551551\n18446744073709551552 18446744073709551613\n",
      "18446744073709551615 0\n",
      "0 8388623\n",  // the farthest that counts as close of one link,
      "0 8388624\n",  // and the next
      "7 8388630\n",
      "7 8388631\n"};
  for (const std::uint64_t factor : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 40}) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 33}) {
      std::string text;
      for (std::uint64_t i = 0; i < 100'000; ++i) {
        text += std::to_string(first + i * i % 50'021 * factor);
        text += '\t';
        text += std::to_string(first + i % 50'021 * factor);
        text += '\n';
      }
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

TEST_CASE("the GPU numbers nodes as the host does, however their labels lie") {
  if (!has_gpu()) return;
  for (const std::string& text : numbering_texts()) {
    BothReaders<DeviceEdgeListReaders> readers(text);
    CHECK_FALSE(readers.refused());
    readers.check({.threads = 3}, false);
    readers.check({.threads = 3}, true);
  }
}

/// A text whose nodes are too many from a few on.
class FewNodes final : public SourceOfSource {
 public:
  FewNodes(gpu::EntrySource& source, std::uint64_t most) : SourceOfSource(source), most_(most) {}
  void require_nodes(std::uint64_t count) const override { require_node_count(count, most_); }

 private:
  std::uint64_t most_;
};

TEST_CASE("more nodes than can be held are refused by the GPU's reader, and too little memory") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  for (const char* const text : {"1 2\n3 9\n9 8\n", "1 2\n3 1152921504606846976\n3 8\n"}) {
    write_file(path, text);
    for (const std::uint64_t most : {std::uint64_t{5}, std::uint64_t{4}}) {
      io::ByteSource source(path);
      io::EdgeListReader reader(source);
      app::TextSource entries(reader);
      FewNodes few(entries, most);
      gpu::DeviceReader device(few, {});
      if (most == 5) {
        CHECK_NOTHROW(device.read());
      } else {
        CHECK_THROWS_WITH_AS(device.read(), "more nodes than the 4 that can be held",
                             std::length_error);
      }
    }
    io::ByteSource source(path);
    io::EdgeListReader reader(source);
    app::TextSource entries(reader);
    gpu::DeviceReader device(entries, {.memory_limit = 1000});
    CHECK_THROWS_AS(device.read(), OutOfMemory);
  }
}

TEST_CASE("a line that is too long for the host's reader is too long for the GPU's, and no other") {
  if (!has_gpu()) return;
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n";
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  for (const std::size_t length : {longest - 1, longest, longest + 1}) {
    std::string line = "1 1", comment = "%";
    line.resize(length, ' ');
    const std::string digits = "1 " + std::string(length - 3, '0') + '1';
    comment.resize(3 * length, 'c');
    std::string with_comments = header;
    with_comments.append(comment).append("\n1 2\n").append(comment);
    const std::string late = header + std::string(length, ' ') + "1 1\n";
    std::string banner = "%%MatrixMarket";
    banner.append(length, '\t').append("matrix coordinate pattern general\n5 5 1\n1 2\n");
    for (const std::string& text : {header + line, with_comments, late, late + line, banner,
                                    header + digits, header + digits + "\n"}) {
      BothReaders<DeviceReaders> readers(text);
      for (const bool streamed : {false, true}) {
        readers.check({.threads = 4, .block_bytes = longest}, streamed);
        readers.check({.threads = 4, .block_bytes = 1000}, streamed);
      }
    }
  }
}

TEST_CASE("the matrix that the GPU builds is that of the simple reader's edges, bit for bit") {
  if (!has_gpu()) return;
  Random random(27);
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  std::vector<std::string> texts = texts_of(DeviceReaders::corpus);
  for (const bool weighted : {false, true}) {
    texts.push_back(long_text(weighted, random));
    // Few nodes, so that links repeat, thousands of times too; weights whose sums depend on the
    // order, are 0 or overflow.
    for (const char* const symmetry : {"general", "symmetric"}) {
      for (const unsigned nodes : {1U, 2U, 4U, 40U, 3000U}) {
        const int entries = nodes == 4U ? 120'000 : 20'000;
        std::string text = std::string("%%MatrixMarket matrix coordinate ") +
                           (weighted ? "real " : "pattern ") + symmetry + "\n" +
                           std::to_string(nodes) + ' ' + std::to_string(nodes) + ' ' +
                           std::to_string(entries) + '\n';
        for (int e = 0; e < entries; ++e) {
          text += std::to_string(1 + random() % nodes);
          text += ' ';
          text += std::to_string(1 + random() % nodes);
          static constexpr std::array<const char*, 7> weights = {
              " 0", " 1e-3", " 1.7e308", " 0.1", " 12345.678", " 3", " 1e-300"};
          const std::size_t kinds = nodes == 2U || nodes == 3000U ? weights.size() : 2;
          if (weighted && nodes == 4U) text += ' ' + std::to_string(random()) + "e-9";
          if (weighted && nodes != 4U) text += weights[random() % kinds];
          text += '\n';
        }
        texts.push_back(std::move(text));
      }
    }
  }
  int built = 0;
  for (const std::string& text : texts) {
    for (const SourceIndex source_index : {SourceIndex::row, SourceIndex::column}) {
      const auto simple = outcome_of([&] { return simple_read(text, path, source_index); });
      if (!simple.error.empty() || simple.graph.edges.node_count > 20'000'000) continue;
      const TransitionMatrix expected = make_transition_matrix(simple.graph.edges);
      write_file(path, text);
      io::ByteSource source(path);
      DeviceReading<io::MatrixMarketReader> reading(source);
      const gpu::DeviceMatrix matrix = reading.device.build(source_index);
      CAPTURE(text.substr(0, 200));
      CHECK(matrix.dangling_count() == expected.dangling.size());
      CHECK(matrix.distinct_links() == expected.distinct_links);
      CHECK(same_bits(matrix.download(), expected));
      ++built;
    }
  }
  CHECK(built > 40);
}

TEST_CASE("the matrix that the GPU builds of an edge list is that of the simple reader's links") {
  if (!has_gpu()) return;
  Random random(30);
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  std::vector<std::string> texts = numbering_texts();
  for (const int columns : {2, 3, 4}) {
    for (const std::uint64_t range : {std::uint64_t{500}, std::uint64_t{0}}) {
      texts.push_back(long_edge_list(columns, range, random));
    }
  }
  for (const std::string& text : texts) {
    write_file(path, text);
    for (const SourceIndex source_index : {SourceIndex::row, SourceIndex::column}) {
      const io::LabelledEdgeList simple = simple_read_edges(text, path, source_index);
      io::ByteSource source(path);
      DeviceReading<io::EdgeListReader> reading(source);
      gpu::DeviceReader& device = reading.device;
      CAPTURE(text.substr(0, 200));
      CHECK(device.entry_count() == simple.edges.entry_count());
      const TransitionMatrix expected = make_transition_matrix(simple.edges);
      CHECK(same_bits(device.build(source_index).download(), expected));
      CHECK(same_bits(device.take_labels(), simple.labels));
    }
  }
}

TEST_CASE("a matrix on the GPU is looked at as one on the host: the same kernel is chosen") {
  if (!has_gpu()) return;
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  const auto chosen = [&](const EdgeList& edges, const gpu::ExpectedWork& work) {
    std::ofstream file(path);
    io::write_matrix_market(file, edges);
    file.close();
    const gpu::EngineOptions options{.expected = work, .precision = Precision::mixed};
    gpu::Engine of_host(make_transition_matrix(edges), options);
    io::ByteSource source(path);
    DeviceReading<io::MatrixMarketReader> reading(source);
    gpu::Engine of_device(reading.device.build(SourceIndex::row), options);
    CHECK(of_device.kernel() == of_host.kernel());
    const SolveOptions to_tolerance{.tolerance = work.tolerance};
    const Problem problem{.alpha = work.alpha};
    CHECK(of_device.solve(problem, to_tolerance).scores ==
          of_host.solve(problem, to_tolerance).scores);
    CHECK(of_device.kernel() == of_host.kernel());
    return std::string(of_device.kernel());
  };
  const auto generated = [](GraphKind kind, EdgeIndex links) {
    return generate_graph(
        {.kind = kind, .nodes = 1 << 20, .links = links, .seed = 9, .scramble = true});
  };
  // What slow mixing decides, so that a solve is to tell, and what it does not.
  CHECK(chosen(generated(GraphKind::web, 1 << 24), {.alpha = 0.99, .tolerance = 1e-8}) ==
        "blocked");
  CHECK(chosen(generated(GraphKind::uniform, 1 << 23), {}) == "balanced");
  CHECK(chosen(generated(GraphKind::rmat, 1 << 24), {.solves = 100}) == "blocked");
}

TEST_SUITE_END();
}  // namespace pagerank::tests
