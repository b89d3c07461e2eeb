#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/types.hpp"

namespace pagerank::gpu {

/// What the lines of a graph in text are: "ROW COLUMN" or "ROW COLUMN WEIGHT", or comments, which
/// begin with '%'.
struct EntryFormat {
  enum class Weights : std::uint8_t { none, whole, real };

  NodeId node_count = 0;  ///< Rows and columns count from 1 to this,
  Weights weights = Weights::none;
  bool labelled = false;       ///< or are any numbers below 2^64, labels of the nodes.
  bool hash_comments = false;  ///< Comments may begin with '#' too.
  bool timed = false;          ///< A number follows the weight and is left out.
};

/// An entry: row and column counted from 0, or labels.
struct ParsedEntry {
  std::uint64_t row, column;
  double weight;
};

/// What is known of a graph before its entries are read.
struct EntryTextShape {
  EntryFormat format;
  bool symmetric = false;

  /// As the header says, which may not be so; more are an error. A text without a header has no
  /// limit.
  std::uint64_t declared_entries = std::numeric_limits<std::uint64_t>::max();
  /// No more than these: declared, and as many as the text has room for, where that is known. Of a
  /// text without a header about so many, as far as anybody can tell, and any number may come.
  std::uint64_t expected_entries = 0;
  /// That is known: the text is large enough for the entries that are expected.
  bool entries_are_there = false;

  /// Whether a header says how many entries there are.
  [[nodiscard]] bool declares_entries() const {
    return declared_entries != std::numeric_limits<std::uint64_t>::max();
  }
};

/// Some whole lines.
struct TextBlock {
  std::size_t index = 0;  ///< Blocks count from 0, in the order of the text.

  /// In the buffer that was given for it. Only the last line of the text may lack its newline.
  std::span<char> text;

  /// Set if the lines cannot be had. It is the last block then, and text is empty.
  std::exception_ptr error;

  [[nodiscard]] std::string_view view() const { return {text.data(), text.size()}; }
};

/// The entries of a graph as text, for a parser that knows the usual line only: it gives out
/// blocks of lines, takes back what was made of them, and is asked about the rest.
class EntrySource {
 public:
  EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  virtual ~EntrySource() = default;

  [[nodiscard]] virtual EntryTextShape shape() const = 0;

  /// How large the buffers for blocks must be.
  [[nodiscard]] virtual std::size_t buffer_bytes() const = 0;

  /// Reads the next block into buffer_of(its index), which may have to wait for a buffer. Nothing
  /// at the end. From several threads at once.
  using BufferOf = std::function<std::span<char>(std::size_t index)>;
  [[nodiscard]] virtual std::optional<TextBlock> next(const BufferOf& buffer_of) = 0;

  /// From any thread: no more blocks are wanted. Who waits in next() for text that may never come
  /// goes on, as at its end.
  virtual void stop() = 0;

  /// The entry on a line (without its newline); nothing if the line is bad. From several threads.
  [[nodiscard]] virtual std::optional<ParsedEntry> parse_line(std::string_view line) const = 0;

  // From one thread, for all blocks in their order, one or the other:

  /// The parser found so many lines in it, all good, and so many entries.
  virtual void accept(std::size_t block, std::uint64_t lines, std::uint64_t entries) = 0;
  /// Something in the block seems to be wrong, or it cannot be had. Throws what is wrong with the
  /// text up to its end.
  virtual void inspect(const TextBlock& block) = 0;

  /// After the last block: throws what is wrong with the text.
  virtual void close() = 0;

  /// After that, where nodes have labels: throws if so many nodes are too many.
  virtual void require_nodes(std::uint64_t count) const = 0;
};

}  // namespace pagerank::gpu
