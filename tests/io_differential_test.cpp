// The parallel reader against a simple one: the same graph, bit for bit, or the same message, for
// any size of blocks and any number of threads, on the conformance files and on mutations of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "app/text_source.hpp"
#include "gpu/device_reader.hpp"
#include "gpu/entry_reader.hpp"
#include "gpu/pagerank.hpp"
#include "io/graph_reader.hpp"
#include "io/line_blocks.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/emulated_parser.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

constexpr std::array<std::size_t, 7> block_sizes = {1, 2, 7, 1024, 2048, 7168, 65'536};
constexpr int most_threads = 8;

struct MatrixMarketReaders {
  using Graph = io::MatrixMarketGraph;
  static constexpr const char* corpus = "tests/data/conformance";
  static Graph simple(const std::string& text, const std::string& name) {
    return simple_read(text, name, SourceIndex::row);
  }
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    return io::read_matrix_market(source, SourceIndex::row, options);
  }
};

/// The GPU's reader, with the host in the GPU's place; without `knows` it knows no line.
template <bool knows>
struct EmulatedReadersThat : MatrixMarketReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::MatrixMarketReader reader(source, options);
    app::TextSource entries(reader);
    gpu::TextRing ring(entries, options.threads, 4);
    EmulatedParser parser(entries.shape(), SourceIndex::row, knows);
    gpu::read_entries(entries, ring, parser, options.threads);
    return {reader.header(), parser.take_edges()};
  }
};

using EmulatedReaders = EmulatedReadersThat<true>;
using IgnorantReaders = EmulatedReadersThat<false>;

struct EdgeListReaders {
  using Graph = io::LabelledEdgeList;
  static constexpr const char* corpus = "tests/data/edge_lists";
  static Graph simple(const std::string& text, const std::string& name) {
    return simple_read_edges(text, name, SourceIndex::row);
  }
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    return io::read_edge_list(source, SourceIndex::row, options);
  }
};

/// The same for edge lists.
template <bool knows>
struct EmulatedEdgeListReadersThat : EdgeListReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::EdgeListReader reader(source, options);
    app::TextSource entries(reader);
    gpu::TextRing ring(entries, options.threads, 4);
    EmulatedParser parser(entries.shape(), SourceIndex::row, knows);
    gpu::read_entries(entries, ring, parser, options.threads);
    return parser.take_labelled_edges();
  }
};

using EmulatedEdgeListReaders = EmulatedEdgeListReadersThat<true>;
using IgnorantEdgeListReaders = EmulatedEdgeListReadersThat<false>;

/// The GPU's readers.
struct DeviceReaders : MatrixMarketReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::MatrixMarketReader reader(source, options);
    app::TextSource entries(reader);
    gpu::DeviceReader device(entries, {.threads = options.threads});
    device.read();
    return {reader.header(), device.download_edges(SourceIndex::row)};
  }
};

struct DeviceEdgeListReaders : EdgeListReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::EdgeListReader reader(source, options);
    app::TextSource entries(reader);
    gpu::DeviceReader device(entries, {.threads = options.threads});
    device.read();
    return {device.download_edges(SourceIndex::row), device.take_labels()};
  }
};

/// Reads the same text by both readers of a format, as a file and compressed.
template <class Readers>
class BothReaders {
 public:
  explicit BothReaders(const std::string& text) : text_(text) {
    write_file(plain_, text);
    write_gzip_file(compressed_, text);
    expected_ = outcome_of([&] { return Readers::simple(text, plain_.string()); });
  }

  void check(const io::ReadOptions& options, bool compress) {
    auto outcome = outcome_of([&] {
      io::ByteSource source((compress ? compressed_ : plain_).string());
      return Readers::parallel(source, options);
    });
    if (compress && !outcome.error.empty()) {
      outcome.error.replace(0, compressed_.string().size(), plain_.string());
    }
    if (same(outcome, expected_)) return;
    CAPTURE(text_.substr(0, 2000));
    CAPTURE(options.threads);
    CAPTURE(options.block_bytes);
    CAPTURE(compress);
    CAPTURE(expected_.error);
    CAPTURE(outcome.error);
    FAIL_CHECK("the readers differ");
  }

  [[nodiscard]] bool refused() const { return !expected_.error.empty(); }

 private:
  TemporaryDirectory files_;
  fs::path plain_ = files_ / "graph";
  fs::path compressed_ = files_ / "graph.gz";
  std::string text_;
  ReadOutcome<typename Readers::Graph> expected_;
};

/// The texts of all files below a directory.
std::vector<std::string> texts_of(const char* directory) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& file :
       fs::recursive_directory_iterator(source_dir() / directory)) {
    if (file.is_regular_file()) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());  // the same mutations everywhere
  std::vector<std::string> texts(paths.size());
  std::transform(paths.begin(), paths.end(), texts.begin(), read_file);
  return texts;
}

using Random = std::mt19937_64;

constexpr int long_text_entries = 12'000;

/// A file with lines of every kind that is accepted, in more than one block of 64 KiB.
std::string long_text(bool weighted, Random& random) {
  std::string text;
  for (int e = 0; e < long_text_entries; ++e) {
    const auto index = [&] {
      return std::to_string(1 + random() % (random() % 2 ? 99 : 12345678));
    };
    text += index() + ' ' + index();
    if (weighted) {
      static constexpr std::array<const char*, 12> forms = {
          " 1",  " 0.25", " 12345678.1234567",       " 123456789.5", " 1e5",  " .5", " 1.",
          " +1", " 3E-3", "\t0.1234567890123456789", " 1234567",     " 0.3e2"};
      const bool exotic = random() % 8 == 0;
      text += exotic ? forms[random() % forms.size()]
                     : ' ' + std::to_string(random() % 100'000) + '.' +
                           std::to_string(random() % 100'000);
    }
    static constexpr std::array<const char*, 8> ends = {"\n",  "\n",   "\n",         "\r\n",
                                                        " \n", "\n\n", "\n% note\n", "\n \t\n"};
    text += ends[random() % 64 == 0 ? random() % ends.size() : 0];
  }
  return "%%MatrixMarket matrix coordinate " + std::string(weighted ? "real" : "pattern") +
         " general\n12345678 12345678 " + std::to_string(long_text_entries) + "\n" + text;
}

/// An edge list with lines of every kind that is accepted, in more than one block of 64 KiB: with
/// `columns` of them. Labels are below `range`, 0: any; most of few nodes, as in graphs.
std::string long_edge_list(int columns, std::uint64_t range, Random& random) {
  std::vector<std::uint64_t> nodes(500);
  for (std::uint64_t& node : nodes) node = range == 0 ? random() : random() % range;
  std::string text =
      columns == 4 ? "% asym positive\n% 1 1 1\n" : "# Nodes: 1 Edges: 1\n# FromNodeId\tToNodeId\n";
  for (int e = 0; e < long_text_entries; ++e) {
    const auto id = [&] { return std::to_string(nodes[random() % nodes.size()]); };
    text += id() + (random() % 2 ? '\t' : ' ') + id();
    static constexpr std::array<const char*, 6> weights = {" 1",   "\t0.25", " 12345678.1234567",
                                                           " 1e5", " .5",    "  +1"};
    if (columns > 2) text += weights[random() % weights.size()];
    static constexpr std::array<const char*, 6> times = {
        " 1180000001", "\t1", " 0.5", "\t  -3", " +1e9", " 123456789012345678901234567890"};
    if (columns > 3) text += times[random() % 8 == 0 ? random() % times.size() : 0];
    static constexpr std::array<const char*, 7> ends = {
        "\n", "\r\n", " \n", "\n\n", "\n% note\n", "\n# 1 2 3\n", "\n \t\n"};
    text += ends[random() % 64 == 0 ? random() % ends.size() : 0];
  }
  return text;
}

/// Changes a text in one place or three.
std::string mutate(std::string text, Random& random) {
  static constexpr std::array<const char*, 24> pieces = {
      "0",          "9",     "-",        "+",       ".",
      "e",          " ",     "\t",       "\r",      "\n",
      "\n\n",       "%",     "\n%",      "x",       "18446744073709551617",
      "4294967297", "1 ",    "1 1",      "1 1\n",   "nan",
      "inf",        "1e999", "\xff\xfe", "99999999"};
  for (int changes = random() % 4 == 0 ? 3 : 1; changes > 0; --changes) {
    const std::size_t at = random() % (text.size() + 1);
    const std::size_t few = 1 + random() % 8;
    switch (random() % 7) {
      case 0:
        text.insert(at, pieces[random() % pieces.size()]);
        break;
      case 1:
        text.erase(at, few);
        break;
      case 2:
        text.insert(at, text.substr(random() % (text.size() + 1), few * 4));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>('0' + random() % 10);
        break;
      case 5:
        text.insert(at, 1, '\0');
        break;
      default:
        if (random() % 4 == 0) text.resize(at);
    }
  }
  return text;
}

}  // namespace

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
    std::string line = "1 1";
    line.resize(length, ' ');
    MatrixMarketBoth readers(header + line);
    CHECK(readers.refused() == (length >= longest));
    for (const bool streamed : {false, true}) {
      readers.check({.threads = 2, .block_bytes = longest}, streamed);
      readers.check({.threads = 2, .block_bytes = 1000}, streamed);
    }
  }
}

TEST_CASE("blocks that are joined on their way are read like others, and so are their faults") {
  constexpr int entries = 400'000;  // some MiB: blocks that fill their buffers
  std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n99 99 " + std::to_string(entries) + "\n";
  Random random(28);
  for (int e = 0; e < entries; ++e) {
    text += std::to_string(1 + random() % 99);
    text += ' ';
    text += std::to_string(1 + random() % 99);
    text += '\n';
  }
  const io::ReadOptions options{.threads = 3, .block_bytes = io::LineBlocks::longest_line};
  std::string bad = text;
  bad[text.size() - 100'000] = 'x';
  for (const std::string& each : {text, bad, text + "1 1\n", text + "\n\n"}) {
    BothReaders<EmulatedReaders>(each).check(options, false);
    BothReaders<IgnorantReaders>(each).check(options, false);
    if (gpu::unavailable_reason().empty()) BothReaders<DeviceReaders>(each).check(options, false);
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

TEST_CASE_TEMPLATE("comments of an edge list may be longer than any block, its links may not",
                   Readers, EdgeListReaders, EmulatedEdgeListReaders) {
  using EdgeListBoth = BothReaders<Readers>;
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  const std::string comment = "# " + std::string(3 * longest, 'c') + "\n";
  std::string between = comment, before_bad = "1 2\n";
  between.append("1 2\n").append(comment).append("%").append(comment).append("2 3\n");
  before_bad.append(comment).append("3 ").append(longest, ' ').append("4\n");
  for (const std::string& text :
       {between, comment + comment, before_bad, std::string(longest + 1, '7'),
        "1 2\n3" + std::string(longest - 1, ' ')}) {
    EdgeListBoth readers(text);
    for (const bool streamed : {false, true}) {
      readers.check({.threads = 2, .block_bytes = longest}, streamed);
      readers.check({.threads = 2, .block_bytes = 1000}, streamed);
    }
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("gpu");

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
class FewNodes final : public gpu::EntrySource {
 public:
  FewNodes(gpu::EntrySource& source, std::uint64_t most) : source_(source), most_(most) {}

  [[nodiscard]] gpu::EntryTextShape shape() const override { return source_.shape(); }
  [[nodiscard]] std::size_t buffer_bytes() const override { return source_.buffer_bytes(); }
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override {
    return source_.next(buffer_of);
  }
  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view line) const override {
    return source_.parse_line(line);
  }
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) override {
    source_.accept(block, lines, entries);
  }
  void inspect(const gpu::TextBlock& block) override { source_.inspect(block); }
  void close() override { source_.close(); }
  void require_nodes(std::uint64_t count) const override { require_node_count(count, most_); }

 private:
  gpu::EntrySource& source_;
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

TEST_CASE("a last line that is too long for the host's reader is too long for the GPU's") {
  if (!has_gpu()) return;
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n";
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  for (const std::size_t length : {longest - 1, longest, longest + 1}) {
    std::string line = "1 1", comment = "%";
    line.resize(length, ' ');
    comment.resize(3 * length, 'c');
    std::string with_comments = header;
    with_comments.append(comment).append("\n1 2\n").append(comment);
    for (const std::string& text : {header + line, with_comments}) {
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
    // Few nodes, so that links repeat; weights whose sums depend on the order, are 0 or overflow.
    for (const char* const symmetry : {"general", "symmetric"}) {
      for (const unsigned nodes : {1U, 40U, 3000U}) {
        std::string text = std::string("%%MatrixMarket matrix coordinate ") +
                           (weighted ? "real " : "pattern ") + symmetry + "\n" +
                           std::to_string(nodes) + ' ' + std::to_string(nodes) + " 20000\n";
        for (int e = 0; e < 20'000; ++e) {
          text += std::to_string(1 + random() % nodes);
          text += ' ';
          text += std::to_string(1 + random() % nodes);
          static constexpr std::array<const char*, 7> weights = {
              " 0", " 1e-3", " 1.7e308", " 0.1", " 12345.678", " 3", " 1e-300"};
          const std::size_t kinds = nodes == 3000U ? weights.size() : 2;
          if (weighted) text += weights[random() % kinds];
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
      io::MatrixMarketReader reader(source);
      app::TextSource entries(reader);
      gpu::DeviceReader device(entries, {});
      device.read();
      const gpu::DeviceMatrix matrix = device.build(source_index);
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
      io::EdgeListReader reader(source);
      app::TextSource entries(reader);
      gpu::DeviceReader device(entries, {});
      device.read();
      CAPTURE(text.substr(0, 200));
      CHECK(device.entry_count() == simple.edges.entry_count());
      const TransitionMatrix expected = make_transition_matrix(simple.edges);
      CHECK(same_bits(device.build(source_index).download(), expected));
      CHECK(same_bits(device.take_labels(), simple.labels));
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
