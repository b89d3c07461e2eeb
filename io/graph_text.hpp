#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>

#include "core/page_array.hpp"
#include "io/block_ledger.hpp"
#include "io/byte_source.hpp"
#include "io/line_blocks.hpp"

namespace pagerank::io {

/// How a file is read; the result does not depend on it.
struct ReadOptions {
  int threads = 0;  ///< 0: as many as OpenMP offers.

  /// About the bytes that a thread takes at a time: 1 .. LineBlocks::longest_line.
  std::size_t block_bytes = std::size_t{1} << 20;
};

/// The text of a graph, read once: a header line by line, then the rest by several threads, block
/// by block.
class GraphText {
 public:
  GraphText(ByteSource& source, const ReadOptions& options, const TextRules& rules);

  [[nodiscard]] const ByteSource& source() const { return source_; }

  /// The line that comes next, without its newline, until drop_line(). Nothing at the end. Throws
  /// what is wrong with a block that cannot be had: InputError, or LineFault with the line in the
  /// file.
  [[nodiscard]] std::optional<std::string_view> peek_line();
  void drop_line();

  /// How many lines were dropped.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

  /// What is left of the block that the last line was peeked from.
  [[nodiscard]] std::string_view rest_of_block() const { return first_block_.view(); }

  /// The same as parse_blocks() for a parser that has threads of its own: what follows the lines
  /// that were dropped, block by block, as LineBlocks::next() has it. From several threads at once.
  [[nodiscard]] std::optional<LineBlock> next_block(const LineBlocks::BufferOf& buffer_of);
  /// The index of the first of those.
  [[nodiscard]] std::size_t first_block() const { return first_block_.index; }
  /// Of the text, once all blocks have been taken.
  [[nodiscard]] std::uint64_t bytes() const { return blocks_.bytes(); }
  /// From any thread: ends the text where reading has come to; who waits in next_block() goes on.
  void stop() { source_.stop(); }

  /// A ledger of what follows the lines that were dropped.
  [[nodiscard]] BlockLedger ledger(std::optional<std::uint64_t> declared = {}) const {
    return {first_block_.index, lines_, declared};
  }

  /// Calls parse(text, entries) and take(block, entries) for each block of what follows the lines
  /// that were dropped, both on the thread that has the block. Every block is entered in the
  /// ledger.
  template <class Id, class Parse, class Take>
  void parse_blocks(BlockLedger& ledger, Parse parse, Take take);

  /// Does something and lets its LineFaults out as ParseErrors.
  template <class Action>
  void name_faults(Action action) const;

 private:
  void on_each_thread(const std::function<void()>& work) const;

  ByteSource& source_;
  int threads_;
  LineBlocks blocks_;
  PageArray<char> first_buffer_;  ///< Holds the header's last block,
  LineBlock first_block_;         ///< what follows the lines that were dropped in it.
  std::uint64_t lines_ = 0;
  std::atomic<bool> first_is_taken_ = false;  ///< By next_block().
};

template <class Id, class Parse, class Take>
void GraphText::parse_blocks(BlockLedger& ledger, Parse parse, Take take) {
  const auto work_on = [&](const LineBlock& block, ParsedEntries<Id>& entries) {
    std::exception_ptr error = block.error;
    try {
      parse(block.view(), entries);
    } catch (...) {
      entries = {};  // half filled: it would be counted
      error = std::current_exception();
    }
    try {
      if (!error && !entries.fault) take(block.index, entries);
    } catch (...) {
      error = std::current_exception();
    }
    ledger.finish(block.index, entries, error);
    // Others may wait for a block from a pipe whose writer has gone silent.
    if (ledger.stopped()) stop();
  };
  std::atomic<bool> first_is_taken = false;
  on_each_thread([&] {
    ParsedEntries<Id> entries;
    if (!first_is_taken.exchange(true)) work_on(first_block_, entries);
    PageArray<char> buffer;
    while (!ledger.stopped()) {
      const std::optional<LineBlock> block = blocks_.next(buffer);
      if (!block) break;
      work_on(*block, entries);
    }
  });
  name_faults([this, &ledger] { ledger.close(bytes()); });
}

template <class Action>
void GraphText::name_faults(Action action) const {
  try {
    action();
  } catch (const LineFault& fault) {
    throw ParseError(source_.name(), fault.line, fault.fault, fault.detail);
  }
}

}  // namespace pagerank::io
