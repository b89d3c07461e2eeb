// The parallel reader against a simple one: the same graph, bit for bit, or the same message, for
// any size of blocks and any number of threads, on the conformance files and on mutations of them.
#include <doctest/doctest.h>

#include <array>
#include <thread>

#include "app/text_source.hpp"
#include "core/pagerank.hpp"
#include "gpu/entry_reader.hpp"
#include "io/graph_reader.hpp"
#include "io/line_blocks.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/both_readers.hpp"
#include "tests/emulated_readers.hpp"
#include "tests/text_samples.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

constexpr int most_threads = 8;

}  // namespace

TEST_CASE("what is wrong with a text comes before that there is no room for it") {
  class CrampedParser final : public EmulatedParser {
   public:
    CrampedParser(const gpu::EntryTextShape& shape, gpu::TextRing& ring, bool refuse_chunks)
        : EmulatedParser(shape, SourceIndex::row), ring_(ring), refuse_chunks_(refuse_chunks) {}
    void submit(std::span<const std::string_view> texts) override {
      if (refuse_chunks_ && ++chunks_ > 1) throw OutOfMemory("a test", 2, 1);
      EmulatedParser::submit(texts);
      while (refuse_chunks_ && !ring_.ready()) std::this_thread::yield();  // the first is under way
    }
    [[nodiscard]] bool oldest_is_finished() override { return false; }
    [[nodiscard]] Parsed finish_oldest() override {  // there is no room for the first either
      if (chunks_ > 1) throw OutOfMemory("a test", 2, 1);
      return EmulatedParser::finish_oldest();
    }
    void require_room(std::uint64_t entries) const override {
      if (!refuse_chunks_ && entries > 0) throw OutOfMemory("a test", 2, 1);
    }

   private:
    gpu::TextRing& ring_;
    bool refuse_chunks_;
    int chunks_ = 0;
  };
  const TemporaryDirectory files;
  const std::string path = (files / "g.txt").string();
  const auto read = [&](const std::string& text, bool refuse_chunks) {
    write_file(path, text);
    io::ByteSource source(path);
    io::EdgeListReader reader(source, {.threads = 1, .block_bytes = 4});
    app::TextSource entries(reader);
    gpu::TextRing ring(entries, 1, 4);
    CrampedParser parser(entries.shape(), ring, refuse_chunks);
    gpu::read_entries(entries, ring, parser, 1);
  };
  const std::string links = "1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 1\n";
  for (const bool refuse_chunks : {false, true}) {
    CAPTURE(refuse_chunks);
    CHECK_THROWS_AS(read(links, refuse_chunks), OutOfMemory);
    CHECK_THROWS_WITH_AS(read("1 x\n" + links, refuse_chunks), doctest::Contains(":1: expected"),
                         io::ParseError);
  }
  // In the first chunk, or in the one that there was no room for.
  CHECK_THROWS_WITH_AS(read("1 2\n2 x\n" + links, true), doctest::Contains(":2: expected"),
                       io::ParseError);
}

TEST_CASE_TEMPLATE("both readers agree on every conformance file, for all block sizes and threads",
                   Readers, MatrixMarketReaders, EmulatedReaders, EdgeListReaders,
                   EmulatedEdgeListReaders) {
  for (const std::string& text : texts_of(Readers::corpus)) {
    BothReaders<Readers> readers(text);
    for (const std::size_t block_bytes : block_sizes) {
      for (int threads = 1; threads <= most_threads; ++threads) {
        readers.check({.threads = threads, .block_bytes = block_bytes}, threads % 2 == 0);
      }
    }
  }
}

TEST_CASE_TEMPLATE("both readers agree on what fuzzing kept, and so do the ranks", Readers,
                   MatrixMarketReaders, EmulatedReaders, EdgeListReaders, EmulatedEdgeListReaders) {
  int refused = 0, read = 0;
  for (const std::string& text : texts_of_fuzzing(Readers::fuzz_kind)) {
    BothReaders<Readers> readers(text);
    ++(readers.refused() ? refused : read);
    for (const std::size_t block_bytes : block_sizes) {
      for (const int threads : {1, 4}) {
        readers.check({.threads = threads, .block_bytes = block_bytes}, threads == 4);
      }
    }
    readers.check_ranks({.threads = 3, .block_bytes = block_sizes[2]});
  }
  CHECK(refused > 20);
  CHECK(read > 10);
}

TEST_CASE_TEMPLATE("the program ranks what the simple reader reads, or says the same", Readers,
                   MatrixMarketReaders, EdgeListReaders) {
  Random random(22);
  int refused = 0, read = 0;
  for (const std::string& text : texts_of(Readers::corpus)) {
    for (int round = 0; round < 16; ++round) {
      BothReaders<Readers> readers(round == 0 ? text : mutate(text, random));
      ++(readers.refused() ? refused : read);
      for (const std::size_t block_bytes : {block_sizes[0], block_sizes[2], block_sizes.back()}) {
        for (const int threads : {1, 3}) {
          readers.check_ranks({.threads = threads, .block_bytes = block_bytes});
        }
      }
    }
  }
  CHECK(refused > 100);
  CHECK(read > 50);
}

TEST_CASE_TEMPLATE("both readers agree on mutations of the conformance files", Readers,
                   MatrixMarketReaders, EmulatedReaders, EdgeListReaders, EmulatedEdgeListReaders) {
  Random random(20);
  const std::vector<std::string> texts = texts_of(Readers::corpus);
  int refused = 0, read = 0;
  for (int round = 0; round < 20; ++round) {
    for (const std::string& text : texts) {
      BothReaders<Readers> readers(mutate(text, random));
      ++(readers.refused() ? refused : read);
      for (int some = 0; some < 4; ++some) {
        const std::size_t block_bytes = block_sizes.at(random() % block_sizes.size());
        readers.check(
            {.threads = 1 + static_cast<int>(random() % most_threads), .block_bytes = block_bytes},
            random() % 4 == 0);
      }
    }
  }
  CHECK(refused > 100);
  CHECK(read > 50);
}

TEST_CASE_TEMPLATE("both readers agree on long files and mutations of them", Readers,
                   MatrixMarketReaders, EmulatedReaders, IgnorantReaders) {
  using MatrixMarketBoth = BothReaders<Readers>;
  Random random(21);
  for (const bool weighted : {false, true}) {
    const std::string text = long_text(weighted, random);
    CHECK_FALSE(MatrixMarketBoth(text).refused());
    const std::string count = " " + std::to_string(long_text_entries) + "\n";
    for (const int declared : {0, 1, 5000, long_text_entries - 1, long_text_entries + 1}) {
      std::string miscounted = text;
      miscounted.replace(text.find(count), count.size(), " " + std::to_string(declared) + "\n");
      MatrixMarketBoth readers(miscounted);
      CHECK(readers.refused());
      for (int threads = 1; threads <= most_threads; ++threads) {
        readers.check({.threads = threads, .block_bytes = 1000}, false);
      }
    }
    for (int round = 0; round < 40; ++round) {
      MatrixMarketBoth readers(round == 0 ? text : mutate(text, random));
      for (const std::size_t block_bytes : {std::size_t{1000}, block_sizes.back()}) {
        readers.check(
            {.threads = 1 + static_cast<int>(random() % most_threads), .block_bytes = block_bytes},
            random() % 8 == 0);
      }
    }
  }
}

TEST_CASE_TEMPLATE("both readers agree on long edge lists and mutations of them", Readers,
                   EdgeListReaders, EmulatedEdgeListReaders, IgnorantEdgeListReaders) {
  using EdgeListBoth = BothReaders<Readers>;
  Random random(23);
  for (const std::uint64_t range : {std::uint64_t{500}, std::uint64_t{1} << 33, std::uint64_t{0}}) {
    for (const int columns : {2, 3, 4}) {
      const std::string text = long_edge_list(columns, range, random);
      CHECK_FALSE(EdgeListBoth(text).refused());
      for (int round = 0; round < 15; ++round) {
        EdgeListBoth readers(round == 0 ? text : mutate(text, random));
        for (const std::size_t block_bytes : {std::size_t{1000}, block_sizes.back()}) {
          readers.check({.threads = 1 + static_cast<int>(random() % most_threads),
                         .block_bytes = block_bytes},
                        random() % 8 == 0);
        }
      }
    }
  }
}

TEST_CASE("the matrix built from an edge list is that of the simple reader's") {
  Random random(24);
  const TemporaryDirectory files;
  const std::string path = (files / "graph").string();
  for (const std::uint64_t range : {std::uint64_t{500}, std::uint64_t{0}}) {
    for (const int columns : {2, 3, 4}) {
      const std::string text = long_edge_list(columns, range, random);
      write_file(path, text);
      for (const SourceIndex source_index : {SourceIndex::row, SourceIndex::column}) {
        io::LabelledEdgeList simple = simple_read_edges(text, path, source_index);
        const TransitionMatrix expected = make_transition_matrix(std::move(simple.edges));
        for (const int threads : {1, 5}) {
          io::ByteSource source(path);
          io::GraphReader reader(source, io::GraphFormat::edge_list,
                                 {.threads = threads, .block_bytes = 5000});
          reader.read(source_index);
          CHECK(reader.link_count() == long_text_entries);
          CHECK(same_bits(reader.build(), expected));
          CHECK(same_bits(reader.take_labels(), simple.labels));
        }
      }
    }
  }
}

TEST_CASE("the matrix built as a file is read is that of its edge list") {
  Random random(22);
  for (const bool weighted : {false, true}) {
    const std::string text = long_text(weighted, random);
    const TemporaryDirectory files;
    write_file(files / "plain", text);
    write_gzip_file(files / "compressed", text);
    for (const SourceIndex source_index : {SourceIndex::row, SourceIndex::column}) {
      const TransitionMatrix expected =
          make_transition_matrix(simple_read(text, "", source_index).edges);
      for (const char* name : {"plain", "compressed"}) {
        io::ByteSource source((files / name).string());
        io::MatrixMarketReader reader(source, {.threads = 5, .block_bytes = 5000});
        TransitionMatrixBuilder builder(reader.shape());
        reader.read_into(builder, source_index);
        const TransitionMatrix matrix = builder.build(3);
        CHECK(same_bits(matrix, expected));
      }
    }
  }
}

TEST_CASE_TEMPLATE("a last line is too long from the same length on for files and streams", Readers,
                   MatrixMarketReaders, EmulatedReaders) {
  using MatrixMarketBoth = BothReaders<Readers>;
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n";
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  for (const std::size_t length : {longest - 1, longest, longest + 1}) {
    MatrixMarketBoth readers(header + "1 " + std::string(length - 3, '0') + "1");
    CHECK(readers.refused() == (length >= longest));
    for (const bool streamed : {false, true}) {
      readers.check({.threads = 2, .block_bytes = longest}, streamed);
      readers.check({.threads = 2, .block_bytes = 1000}, streamed);
    }
  }
}

TEST_CASE_TEMPLATE("a line may be of any length for its blanks, wherever they stand", Readers,
                   MatrixMarketReaders, EmulatedReaders) {
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n";
  for (const std::size_t blanks : {longest - 4, longest - 3, longest, 2 * longest - 5,
                                   2 * longest - 2, 2 * longest - 1, 3 * longest}) {
    CAPTURE(blanks);
    std::string before(blanks, ' ');
    for (std::size_t i = 0; i < blanks; i += 3) before[i] = i % 2 == 0 ? '\t' : '\r';
    for (const std::string& text :
         {header + "5 5 2\n" + before + "1 2\n3 4\n", header + "5 5 2\n1 2\n" + before + "3 4",
          header + "5 5 3\n1" + before + "2" + before + "\n3 4\n3" + before + before + "5" + before,
          header + "5 5 2\n1 2\n" + before + "x\001 4\n", header + "5 5 2\n1 2\n" + before + "\x80",
          header + "5 5 2\n1 2\n3" + before + "6\n", header + "5 5 2\n1 2\n3" + before,
          header + before + "5 5 1\n1 2\n",
          before + "%%MatrixMarket" + before + "matrix coordinate" + before + "pattern general" +
              before + "\n5 5 2\n1 2\n3 4\n",
          "%%MatrixMarket matrix" + before + "array pattern general\n5 5 2\n1 2\n",
          header + before + "%\n5 5 1\n" + before + "\n" + before + "% 7\n1 2\n" + before}) {
      BothReaders<Readers> readers(text);
      if (text.ends_with("3 4\n") || text.ends_with("3 4")) CHECK_FALSE(readers.refused());
      for (const bool streamed : {false, true}) {
        readers.check({.threads = 2, .block_bytes = longest}, streamed);
        readers.check({.threads = 2, .block_bytes = 1000}, streamed);
      }
    }
  }
}

TEST_CASE_TEMPLATE("half a MiB of a long line may be other than repeated blanks", Readers,
                   MatrixMarketReaders, EmulatedReaders) {
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n5 5 2\n1 2\n";
  for (const std::size_t others : {longest / 2 - 1, longest / 2, longest / 2 + 1}) {
    CAPTURE(others);
    const std::string zeros(others - 4, '0');  // a number and two blanks besides
    const std::string blanks(longest, ' ');
    BothReaders<Readers> banners("%%MatrixMarket" + blanks + std::string(others - 14, 'x') + "\n");
    for (const bool streamed : {false, true}) {
      banners.check({.threads = 2, .block_bytes = longest}, streamed);
    }
    for (const std::string& line : {" " + zeros + "1" + blanks + "2", blanks + zeros + "1 2",
                                    blanks + "1" + blanks + zeros + "2"}) {
      for (const char* const end : {"", "\n"}) {
        BothReaders<Readers> readers(header + line + end);
        CHECK(readers.refused() == (others > longest / 2));
        for (const bool streamed : {false, true}) {
          readers.check({.threads = 2, .block_bytes = longest}, streamed);
          readers.check({.threads = 2, .block_bytes = 1000}, streamed);
        }
      }
    }
  }
}

TEST_CASE("blocks that are joined on their way are read like others, and so are their faults") {
  const io::ReadOptions options{.threads = 3, .block_bytes = io::LineBlocks::longest_line};
  for (const std::string& text : texts_of_full_blocks()) {
    BothReaders<EmulatedReaders>(text).check(options, false);
    BothReaders<IgnorantReaders>(text).check(options, false);
  }
}

TEST_CASE_TEMPLATE("of several bad lines the first is reported, whoever meets it", Readers,
                   MatrixMarketReaders, EmulatedReaders) {
  using MatrixMarketBoth = BothReaders<Readers>;
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n9 9 3000\n";
  for (int e = 0; e < 3000; ++e) text += e % 7 == 5 ? "1 10\n" : "1 2\n";
  MatrixMarketBoth readers(text);
  REQUIRE(readers.refused());
  for (int round = 0; round < 50; ++round) {
    readers.check({.threads = 1 + round % most_threads, .block_bytes = 16}, false);
  }
}

TEST_CASE_TEMPLATE("of several bad links the first is reported, whoever meets it", Readers,
                   EdgeListReaders, EmulatedEdgeListReaders) {
  using EdgeListBoth = BothReaders<Readers>;
  std::string text = "# a comment\n";
  for (int e = 0; e < 3000; ++e) text += e % 7 == 5 ? "1 x\n" : "1 2\n";
  EdgeListBoth readers(text);
  REQUIRE(readers.refused());
  for (int round = 0; round < 50; ++round) {
    readers.check({.threads = 1 + round % most_threads, .block_bytes = 16}, false);
  }
}

TEST_CASE_TEMPLATE("comments and blanks of an edge list may be longer than any block, ids may not",
                   Readers, EdgeListReaders, EmulatedEdgeListReaders) {
  using EdgeListBoth = BothReaders<Readers>;
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  const std::string comment = "# " + std::string(3 * longest, 'c') + "\n";
  std::string between = comment, apart = "1 2\n", before_bad = "1 2\n";
  between.append("1 2\n").append(comment).append("%").append(comment).append("2 3\n");
  apart.append(comment).append("3 ").append(longest, ' ').append("4\n5").append(longest, '\t');
  apart.append("6");
  before_bad.append(comment).append("3 ").append(longest, '0').append("4\n");
  for (const std::string& text :
       {between, comment + comment, apart, before_bad,
        // What comments of an edge list can tell.
        "%%MatrixMarket" + std::string(longest, ' ') +
            "matrix coordinate real general\n3 3 1\n1 2 1\n",
        "%" + std::string(longest, '\t') + "asym" + std::string(longest, ' ') +
            "\n1 2 3 100\n2 1 1 200\n",
        "% asym " + std::string(3 * longest, 'c') + "\n1 2 3 100\n2 1 1 200\n",
        std::string(longest + 1, '7'), "1 2\n3" + std::string(longest - 1, ' ')}) {
    EdgeListBoth readers(text);
    for (const bool streamed : {false, true}) {
      readers.check({.threads = 2, .block_bytes = longest}, streamed);
      readers.check({.threads = 2, .block_bytes = 1000}, streamed);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
