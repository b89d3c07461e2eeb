// Texts of which the GPU's reader leaves more lines to the host at once than it takes back at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "gpu/entry_reader.hpp"
#include "tests/device_readers.hpp"
#include "tests/emulated_parser.hpp"
#include "tests/text_samples.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

namespace {

constexpr std::uint64_t entries = 300'000;

/// Counts the lines that are left to it, and what was accepted with a block: the entries of all
/// blocks that were parsed with it.
class CountingSource final : public SourceOfSource {
 public:
  using SourceOfSource::SourceOfSource;

  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view line) const override {
    ++lines_left_;
    return SourceOfSource::parse_line(line);
  }
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t block_entries) override {
    most_at_once_ = std::max(most_at_once_, block_entries);
    SourceOfSource::accept(block, lines, block_entries);
  }

  [[nodiscard]] std::uint64_t lines_left() const { return lines_left_; }
  [[nodiscard]] std::uint64_t most_at_once() const { return most_at_once_; }

 private:
  mutable std::atomic<std::uint64_t> lines_left_ = 0;
  std::uint64_t most_at_once_ = 0;
};

/// Has the GPU read a text, each line of which it leaves to the host; take(device) is returned.
template <class Reader, class Take>
auto read_unknown(io::ByteSource& source, Reader& reader, const io::ReadOptions& options,
                  Take take) {
  app::TextSource text(reader);
  CountingSource counting(text);
  gpu::DeviceReader device(counting, {.threads = options.threads});
  // Once the text is there it is handed over eight blocks at a time.
  for (int i = 0; i < 5000 && source.bytes_taken() < source.size(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  REQUIRE(source.bytes_taken() >= source.size());
  device.read();
  CHECK(counting.lines_left() == entries);
  CHECK(counting.most_at_once() > gpu::ChunkParser::known_at_once);
  return take(device);
}

struct UnknownMatrixReaders : MatrixMarketReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::MatrixMarketReader reader(source, options);
    return read_unknown(source, reader, options, [&](gpu::DeviceReader& device) {
      return Graph{reader.header(), device.download_edges(SourceIndex::row)};
    });
  }
};

struct UnknownEdgeListReaders : EdgeListReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    io::EdgeListReader reader(source, options);
    return read_unknown(source, reader, options, [](gpu::DeviceReader& device) {
      return Graph{device.download_edges(SourceIndex::row), device.take_labels()};
    });
  }
};

/// A weight with more digits than the GPU makes a number of.
std::string long_weight(Random& random) {
  std::string weight = std::to_string(1 + random() % 9) + '.';
  while (weight.size() < 26) weight += static_cast<char>('0' + random() % 10);
  return weight;
}

/// Lines "+FROM TO" or "FROM TO WEIGHT".
std::string unknown_lines(bool weighted, Random& random) {
  std::string text;
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (!weighted) text += '+';
    text += std::to_string(1 + random() % 999) + ' ' + std::to_string(1 + random() % 999);
    if (weighted) text += ' ' + long_weight(random);
    text += '\n';
  }
  return text;
}

std::string header_of(bool weighted) {
  return std::string("%%MatrixMarket matrix coordinate ") + (weighted ? "real" : "pattern") +
         " general\n999 999 " + std::to_string(entries) + '\n';
}

}  // namespace

TEST_CASE("lines that the GPU leaves to the host are put in their places, however many at once") {
  if (!has_gpu()) return;
  Random random(71);
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const std::string lines = unknown_lines(weighted, random);
    BothReaders<UnknownMatrixReaders> matrix(header_of(weighted) + lines);
    CHECK_FALSE(matrix.refused());
    matrix.check({.threads = 4}, false);
    BothReaders<UnknownEdgeListReaders> list("# FROM TO\n" + lines);
    CHECK_FALSE(list.refused());
    list.check({.threads = 4}, false);
  }
}

TEST_CASE("a bad one among many lines that the GPU leaves to the host is refused as by the host") {
  if (!has_gpu()) return;
  Random random(72);
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    std::string text = header_of(weighted) + unknown_lines(weighted, random);
    const std::size_t line = text.rfind('\n', text.size() - text.size() / 9) + 1;
    text[text.find(' ', line) + 1] = 'x';
    BothReaders<DeviceReaders> readers(text);
    CHECK(readers.refused());
    readers.check({.threads = 4}, false);
  }
}

TEST_CASE("once one of the lines that were left to the host is bad the others are let be") {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n9 9 100000\n";
  for (int line = 0; line < 100'000; ++line) text += "x\n";
  const TemporaryDirectory files;
  write_file(files / "bad.mtx", text);
  constexpr int threads = 2;
  io::ByteSource source((files / "bad.mtx").string());
  io::MatrixMarketReader reader(source, {.threads = threads});
  app::TextSource lines(reader);
  CountingSource counting(lines);
  EmulatedParser parser(counting.shape(), SourceIndex::row, false);
  gpu::TextRing ring(counting, threads, 4);
  try {
    (void)gpu::read_entries(counting, ring, parser, threads);
    FAIL("nothing was refused");
  } catch (const io::ParseError& error) {
    CHECK(error.line() == 3);
  }
  CHECK(counting.lines_left() <= threads);  // each may be at one
}

TEST_SUITE_END();
}  // namespace pagerank::tests
