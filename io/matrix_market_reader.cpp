#include "io/matrix_market_reader.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "io/matrix_market_entries.hpp"

namespace pagerank::io {
/// What became of the blocks, whichever thread had them: brings back the order that entries, line
/// numbers and the first fault have in the file. Every block that was taken must be finished.
class MatrixMarketReader::Ledger {
 public:
  Ledger(const MatrixMarketHeader& header, std::size_t first_block)
      : header_(header), next_(first_block), lines_(header.lines) {}

  /// Waits until all blocks before this one are finished. False if the reading failed in them.
  bool wait_for_turn(std::size_t block) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_ == block || fault_; });
    return !fault_;
  }

  /// Notes what parsing the block gave, or with what exception it ended after that. Others may wait
  /// for the block: if there is no memory even for this note, the program ends, rather than hang.
  void finish(std::size_t block, EntriesResult& result, std::exception_ptr error) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (result.fault && !error) error = std::make_exception_ptr(*std::move(result.fault));
      stop_ = stop_ || error;
      finished_[block] = {result.lines, result.entry_count(), std::move(result.others), error};
      while (!fault_ && !finished_.empty() && finished_.begin()->first == next_) {
        count(finished_.begin()->second);
        finished_.erase(finished_.begin());
        ++next_;
      }
      stop_ = stop_ || fault_;
    }
    turn_.notify_all();
  }

  /// Whether it is of no use to take more blocks.
  [[nodiscard]] bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stop_;
  }

  /// Once all blocks are finished: throws what is wrong with the file.
  void close() const {
    if (fault_) std::rethrow_exception(fault_);
    if (entries_ < header_.entries) {
      throw LineFault{
          lines_, ParseFault::too_few_entries,
          "found " + std::to_string(entries_) + " of " + std::to_string(header_.entries)};
    }
  }

 private:
  struct Finished {
    std::uint64_t lines, entries;
    std::vector<std::uint32_t> others;
    std::exception_ptr error;
  };

  /// Adds the next block of the file to what is known.
  void count(const Finished& block) {
    if (block.entries > header_.entries - entries_) {
      std::uint64_t line = header_.entries - entries_ + 1;  // of the first one too many
      for (const std::uint32_t other : block.others) line += other <= line;
      fault_ =
          std::make_exception_ptr(LineFault{lines_ + line, ParseFault::too_many_entries,
                                            std::to_string(header_.entries) + " were declared"});
      return;
    }
    if (block.error) {
      try {
        std::rethrow_exception(block.error);
      } catch (LineFault& fault) {
        fault.line += lines_;
        fault_ = std::current_exception();
      } catch (...) {
        fault_ = std::current_exception();
      }
    }
    lines_ += block.lines;
    entries_ += block.entries;
  }

  const MatrixMarketHeader& header_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_;                          ///< The first block that is not finished.
  std::uint64_t lines_;                       ///< Before it,
  std::uint64_t entries_ = 0;                 ///< before it too.
  std::map<std::size_t, Finished> finished_;  ///< Those after it.
  std::exception_ptr fault_;                  ///< The first in the file, once known.
  bool stop_ = false;                         ///< Some block failed.
};

MatrixMarketReader::MatrixMarketReader(ByteSource& source, const ReadOptions& options)
    : source_(source),
      threads_(thread_count(options.threads)),
      blocks_(source, options.block_bytes) {
  if (source.size()) {  // no more threads than there are blocks
    threads_ = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads_),
                                                        *source.size() / options.block_bytes + 1));
  }
  name_faults([this] { read_header(); });
}

/// Lets the action's LineFaults out as ParseErrors.
template <class Action>
void MatrixMarketReader::name_faults(Action action) const {
  try {
    action();
  } catch (const LineFault& fault) {
    throw ParseError(source_.name(), fault.line, fault.fault, fault.detail);
  }
}

void MatrixMarketReader::read_header() {
  MatrixMarketHeaderParser parser;
  std::optional<MatrixMarketHeader> header;
  std::string_view& text = first_block_.text;
  while (!header) {
    if (text.empty()) {
      const std::optional<LineBlock> block = blocks_.next(first_buffer_);
      if (!block) parser.end_of_input();
      first_block_ = *block;
      if (block->error) {
        try {
          std::rethrow_exception(block->error);
        } catch (LineFault& fault) {
          fault.line += parser.lines();
          throw;
        }
      }
    }
    const std::size_t newline = text.find('\n');
    header = parser.feed(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  header_ = *header;
}

/// Parses all blocks and calls take(block, entries) for each, on the thread that parsed it.
template <class Take>
void MatrixMarketReader::read_entries(Ledger& ledger, Take take) {
  const auto parse = [&](const LineBlock& block, EntriesResult& result) {
    std::exception_ptr error = block.error;
    try {
      parse_entries(block.text, header_, result);
    } catch (...) {
      result = {};  // half filled: it would be counted
      error = std::current_exception();
    }
    try {
      if (!error && !result.fault) take(block.index, result);
    } catch (...) {
      error = std::current_exception();
    }
    ledger.finish(block.index, result, error);
  };
  std::atomic<bool> first_is_taken = false;
  parallel_for(static_cast<std::size_t>(threads_), threads_, [&](std::size_t) {
    EntriesResult result;
    if (!first_is_taken.exchange(true)) parse(first_block_, result);
    Array<char> buffer;
    while (!ledger.stopped()) {
      const std::optional<LineBlock> block = blocks_.next(buffer);
      if (!block) break;
      parse(*block, result);
    }
  });
  name_faults([&ledger] { ledger.close(); });
}

TransitionMatrixBuilder::Shape MatrixMarketReader::shape() const {
  constexpr std::uint64_t shortest_entry = 4;  // "1 1\n"
  return {.node_count = static_cast<NodeId>(header_.node_count),
          .weighted = header_.field != MatrixMarketHeader::Field::pattern,
          .undirected = header_.symmetric,
          .expected_entries =
              source_.size() ? std::min(header_.entries, *source_.size() / shortest_entry + 1) : 0};
}

void MatrixMarketReader::read_into(TransitionMatrixBuilder& builder, SourceIndex source_index) {
  Ledger ledger(header_, first_block_.index);
  read_entries(ledger, [&](std::size_t block, const EntriesResult& entries) {
    const bool by_row = source_index == SourceIndex::row;
    builder.add(block, by_row ? entries.rows : entries.columns,
                by_row ? entries.columns : entries.rows, entries.weights);
  });
}

EdgeList MatrixMarketReader::read_edges(SourceIndex source_index) {
  EdgeList edges;
  edges.node_count = static_cast<NodeId>(header_.node_count);
  edges.undirected = header_.symmetric;
  try {
    const auto entries = static_cast<std::size_t>(shape().expected_entries);
    edges.sources.reserve(entries);
    edges.targets.reserve(entries);
    if (shape().weighted) edges.weights.reserve(entries);
  } catch (const std::bad_alloc&) {  // a file with holes claims bytes that it does not have
    edges.sources.shrink_to_fit();
    edges.targets.shrink_to_fit();
  }
  Ledger ledger(header_, first_block_.index);
  read_entries(ledger, [&](std::size_t block, EntriesResult& entries) {
    if (!ledger.wait_for_turn(block)) return;
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    const bool by_row = source_index == SourceIndex::row;
    append(edges.sources, by_row ? entries.rows : entries.columns);
    append(edges.targets, by_row ? entries.columns : entries.rows);
    append(edges.weights, entries.weights);
  });
  return edges;
}

MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index,
                                     const ReadOptions& options) {
  MatrixMarketReader reader(source, options);
  return {reader.header(), reader.read_edges(source_index)};
}

}  // namespace pagerank::io
