// The parallel reader against a simple one: the same graph, bit for bit, or the same message, for
// any size of blocks and any number of threads, on the conformance files and on mutations of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "io/line_blocks.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

constexpr std::array<std::size_t, 4> block_sizes = {1, 2, 7, 65'536};
constexpr int most_threads = 8;

/// Reads the same text by both readers, as a file and compressed.
class BothReaders {
 public:
  explicit BothReaders(const std::string& text) : text_(text) {
    write_file(plain_, text);
    write_gzip_file(compressed_, text);
    expected_ = outcome_of([&] { return simple_read(text, plain_.string(), SourceIndex::row); });
  }

  void check(const io::ReadOptions& options, bool compress) {
    ReadOutcome outcome = outcome_of([&] {
      io::ByteSource source((compress ? compressed_ : plain_).string());
      return io::read_matrix_market(source, SourceIndex::row, options);
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
  fs::path plain_ = files_ / "graph.mtx";
  fs::path compressed_ = files_ / "graph.mtx.gz";
  std::string text_;
  ReadOutcome expected_;
};

std::vector<std::string> conformance_texts() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& file :
       fs::recursive_directory_iterator(source_dir() / "tests/data/conformance")) {
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

TEST_CASE("both readers agree on every conformance file, for all block sizes and threads") {
  for (const std::string& text : conformance_texts()) {
    BothReaders readers(text);
    for (const std::size_t block_bytes : block_sizes) {
      for (int threads = 1; threads <= most_threads; ++threads) {
        readers.check({.threads = threads, .block_bytes = block_bytes}, threads % 2 == 0);
      }
    }
  }
}

TEST_CASE("both readers agree on mutations of the conformance files") {
  Random random(20);
  const std::vector<std::string> texts = conformance_texts();
  int refused = 0, read = 0;
  for (int round = 0; round < 20; ++round) {
    for (const std::string& text : texts) {
      BothReaders readers(mutate(text, random));
      ++(readers.refused() ? refused : read);
      for (const std::size_t block_bytes : block_sizes) {
        readers.check(
            {.threads = 1 + static_cast<int>(random() % most_threads), .block_bytes = block_bytes},
            random() % 4 == 0);
      }
    }
  }
  CHECK(refused > 100);
  CHECK(read > 50);
}

TEST_CASE("both readers agree on long files and mutations of them") {
  Random random(21);
  for (const bool weighted : {false, true}) {
    const std::string text = long_text(weighted, random);
    CHECK_FALSE(BothReaders(text).refused());
    const std::string count = " " + std::to_string(long_text_entries) + "\n";
    for (const int declared : {0, 1, 5000, long_text_entries - 1, long_text_entries + 1}) {
      std::string miscounted = text;
      miscounted.replace(text.find(count), count.size(), " " + std::to_string(declared) + "\n");
      BothReaders readers(miscounted);
      CHECK(readers.refused());
      for (int threads = 1; threads <= most_threads; ++threads) {
        readers.check({.threads = threads, .block_bytes = 1000}, false);
      }
    }
    for (int round = 0; round < 40; ++round) {
      BothReaders readers(round == 0 ? text : mutate(text, random));
      for (const std::size_t block_bytes : {std::size_t{1000}, block_sizes[3]}) {
        readers.check(
            {.threads = 1 + static_cast<int>(random() % most_threads), .block_bytes = block_bytes},
            random() % 8 == 0);
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
        CHECK(same_bits(matrix.in_links.row_offsets, expected.in_links.row_offsets));
        CHECK(same_bits(matrix.in_links.column_indices, expected.in_links.column_indices));
        CHECK(same_bits(matrix.in_links.values, expected.in_links.values));
        CHECK(same_bits(matrix.inverse_out_weight, expected.inverse_out_weight));
      }
    }
  }
}

TEST_CASE("a last line is too long from the same length on for files and streams") {
  const std::string header = "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n";
  constexpr std::size_t longest = io::LineBlocks::longest_line;
  for (const std::size_t length : {longest - 1, longest, longest + 1}) {
    std::string line = "1 1";
    line.resize(length, ' ');
    BothReaders readers(header + line);
    CHECK(readers.refused() == (length >= longest));
    for (const bool streamed : {false, true}) {
      readers.check({.threads = 2, .block_bytes = longest}, streamed);
      readers.check({.threads = 2, .block_bytes = 1000}, streamed);
    }
  }
}

TEST_CASE("of several bad lines the first is reported, whoever meets it") {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n9 9 3000\n";
  for (int e = 0; e < 3000; ++e) text += e % 7 == 5 ? "1 10\n" : "1 2\n";
  BothReaders readers(text);
  REQUIRE(readers.refused());
  for (int round = 0; round < 50; ++round) {
    readers.check({.threads = 1 + round % most_threads, .block_bytes = 16}, false);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
