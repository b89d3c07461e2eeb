#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/block_ledger.hpp"
#include "io/entry_lines.hpp"
#include "io/graph_text.hpp"
#include "io/line_fields.hpp"

namespace pagerank::io {

/// The lines of a graph behind its header for a parser that is elsewhere: it takes blocks, from
/// several threads, and says for each, in their order, what it made of it or that it is to be
/// looked at here. Errors are those that the format's reader would end with.
class TextBlocks {
 public:
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;
  virtual ~TextBlocks() = default;

  [[nodiscard]] std::optional<LineBlock> next(const LineBlocks::BufferOf& buffer_of);
  [[nodiscard]] std::size_t first_block() const { return text_.first_block(); }
  /// From any thread: no more blocks are wanted; who waits in next() goes on.
  void stop() { text_.stop(); }

  /// The entry on a line (without its newline); nothing if it is bad. From several threads.
  using AnyEntry = Entry<std::uint64_t>;
  [[nodiscard]] std::optional<AnyEntry> parse_line(std::string_view line) const;

  /// So many lines were found in the block, all good, and so many entries.
  void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) noexcept {
    ledger_.finish(block, lines, entries);
  }
  /// Parses the block here, or takes the error that it came with. Throws what is wrong with the
  /// text up to its end. A newline behind a last line that came without one is none of its own.
  void inspect(const LineBlock& block);

  /// After the last block: throws what is wrong with the text.
  virtual void close() const;

  /// After that, where nodes are counted by then and not before: throws if so many are too many.
  virtual void require_nodes(std::uint64_t) const {}

 protected:
  /// The text, of which nothing was read but the header, outlives this.
  explicit TextBlocks(GraphText& text, std::optional<std::uint64_t> declared = {})
      : text_(text), ledger_(text.ledger(declared)) {}

  [[nodiscard]] const BlockLedger& ledger() const { return ledger_; }

 private:
  /// As a format's parsers have it: throws LineFault.
  [[nodiscard]] virtual std::optional<AnyEntry> entry_on(std::string_view line) const = 0;
  /// Parses the lines of a block and enters them.
  virtual void parse_into(BlockLedger& ledger, const LineBlock& block) const = 0;

  GraphText& text_;
  BlockLedger ledger_;
  std::atomic<std::size_t> without_newline_ = SIZE_MAX;  ///< The block whose last line has none.
};

}  // namespace pagerank::io
