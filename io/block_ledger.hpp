#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "io/entry_lines.hpp"

namespace pagerank::io {

/// What became of the blocks of a text, whichever thread had them: brings back the order that
/// entries, line numbers and the first fault have in the file. Every block that was taken must be
/// finished.
class BlockLedger {
 public:
  /// Begins at a block with so many lines before it. `declared`: how many entries there have to be.
  BlockLedger(std::size_t first_block, std::uint64_t lines_before,
              std::optional<std::uint64_t> declared = {})
      : declared_(declared),
        next_(first_block),
        lines_before_(lines_before),
        lines_(lines_before) {}

  /// Waits until all blocks before this one are finished. False if the reading failed in them.
  bool wait_for_turn(std::size_t block);

  /// Notes what parsing the block gave, or with what exception it ended after that. Others may wait
  /// for the block: if there is no memory even for this note, the program ends, rather than hang.
  template <class Id>
  void finish(std::size_t block, ParsedEntries<Id>& result, std::exception_ptr error) noexcept {
    if (result.fault && !error) error = std::make_exception_ptr(*std::move(result.fault));
    finish(block, {result.lines, result.entry_count(), std::move(result.others), error});
  }

  /// The same for a block without faults that another parser had.
  void finish(std::size_t block, std::uint64_t lines, std::uint64_t entries) noexcept {
    finish(block, {lines, entries, {}, nullptr});
  }

  /// Whether it is of no use to take more blocks.
  [[nodiscard]] bool stopped() const;

  /// Once all blocks are finished: throws what is wrong with the text, a LineFault with the line in
  /// it, or what else the reading ended with. `text_bytes`: of all of it.
  void close(std::uint64_t text_bytes) const;

  /// Once all blocks are finished.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] std::uint64_t entries() const { return entries_; }

 private:
  struct Finished {
    std::uint64_t lines, entries;
    std::vector<std::uint32_t> others;
    std::exception_ptr error;
  };

  void finish(std::size_t block, Finished finished) noexcept;
  void count(const Finished& block);

  std::optional<std::uint64_t> declared_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_;                          ///< The first block that is not finished.
  std::uint64_t lines_before_;                ///< All blocks: those of the header.
  std::uint64_t lines_;                       ///< Before it,
  std::uint64_t entries_ = 0;                 ///< before it too.
  std::map<std::size_t, Finished> finished_;  ///< Those after it.
  std::exception_ptr fault_;                  ///< The first in the file, once known.
  bool stop_ = false;                         ///< Some block failed.
};

}  // namespace pagerank::io
