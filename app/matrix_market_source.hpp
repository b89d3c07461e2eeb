#pragma once

#include "gpu/entry_source.hpp"
#include "io/matrix_market_reader.hpp"

namespace pagerank::app {

/// A Matrix Market file as the GPU's parser asks for it.
class MatrixMarketSource final : public gpu::EntrySource {
 public:
  /// The reader, which has read nothing but its header, outlives this.
  explicit MatrixMarketSource(io::MatrixMarketReader& reader) : reader_(reader), blocks_(reader) {}

  [[nodiscard]] gpu::EntryTextShape shape() const override;
  [[nodiscard]] std::size_t buffer_bytes() const override { return io::LineBlocks::buffer_bytes; }
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override;
  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view line) const override;
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) override;
  void inspect(const gpu::TextBlock& block) override;
  void close() override { blocks_.close(); }

 private:
  const io::MatrixMarketReader& reader_;
  io::MatrixMarketBlocks blocks_;
};

}  // namespace pagerank::app
