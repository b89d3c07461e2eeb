#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "app/text_source.hpp"
#include "gpu/device_reader.hpp"
#include "tests/both_readers.hpp"

/// The GPU's reader, as one that is compared with the simple one.
namespace pagerank::tests {

/// The GPU's reader, which has read a text.
template <class Reader>
struct DeviceReading {
  explicit DeviceReading(io::ByteSource& source, const io::ReadOptions& options = {})
      : reader(source, options), entries(reader), device(entries, {.threads = options.threads}) {
    device.read();
  }
  Reader reader;
  app::TextSource entries;
  gpu::DeviceReader device;
};

struct DeviceReaders : MatrixMarketReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    const DeviceReading<io::MatrixMarketReader> reading(source, options);
    return {reading.reader.header(), reading.device.download_edges(SourceIndex::row)};
  }
};

struct DeviceEdgeListReaders : EdgeListReaders {
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    DeviceReading<io::EdgeListReader> reading(source, options);
    return {reading.device.download_edges(SourceIndex::row), reading.device.take_labels()};
  }
};

/// A text as another source has it, but for what derived classes change.
class SourceOfSource : public gpu::EntrySource {
 public:
  explicit SourceOfSource(gpu::EntrySource& source) : source_(source) {}

  [[nodiscard]] gpu::EntryTextShape shape() const override { return source_.shape(); }
  [[nodiscard]] std::size_t buffer_bytes() const override { return source_.buffer_bytes(); }
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override {
    return source_.next(buffer_of);
  }
  void stop() override { source_.stop(); }
  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view line) const override {
    return source_.parse_line(line);
  }
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) override {
    source_.accept(block, lines, entries);
  }
  void inspect(const gpu::TextBlock& block) override { source_.inspect(block); }
  void close() override { source_.close(); }
  void require_nodes(std::uint64_t count) const override { source_.require_nodes(count); }

 private:
  gpu::EntrySource& source_;
};

}  // namespace pagerank::tests
