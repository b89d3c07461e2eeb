#pragma once

#include <memory>

#include "gpu/entry_source.hpp"
#include "io/edge_list_reader.hpp"
#include "io/graph_reader.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/text_blocks.hpp"

namespace pagerank::app {

/// The text of a graph as the GPU's parser asks for it.
class TextSource final : public gpu::EntrySource {
 public:
  /// The reader, which has read nothing but the header, outlives this.
  explicit TextSource(io::MatrixMarketReader& reader);
  explicit TextSource(io::EdgeListReader& reader);

  [[nodiscard]] gpu::EntryTextShape shape() const override { return shape_; }
  [[nodiscard]] std::size_t buffer_bytes() const override { return io::LineBlocks::buffer_bytes; }
  [[nodiscard]] std::optional<gpu::TextBlock> next(const BufferOf& buffer_of) override;
  void stop() override { blocks_->stop(); }
  [[nodiscard]] std::optional<gpu::ParsedEntry> parse_line(std::string_view line) const override;
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) override;
  void inspect(const gpu::TextBlock& block) override;
  void close() override { blocks_->close(); }
  void require_nodes(std::uint64_t count) const override;

 private:
  gpu::EntryTextShape shape_;
  std::unique_ptr<io::TextBlocks> blocks_;
};

/// The same for a file of any format.
[[nodiscard]] std::unique_ptr<TextSource> text_source(io::GraphReader& reader);

}  // namespace pagerank::app
