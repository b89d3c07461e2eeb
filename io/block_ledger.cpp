#include "io/block_ledger.hpp"

#include <string>
#include <utility>

namespace pagerank::io {

bool BlockLedger::wait_for_turn(std::size_t block) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_ == block || fault_; });
  return !fault_;
}

void BlockLedger::finish(std::size_t block, Finished finished) noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = stop_ || finished.error;
    finished_[block] = std::move(finished);
    while (!fault_ && !finished_.empty() && finished_.begin()->first == next_) {
      count(finished_.begin()->second);
      finished_.erase(finished_.begin());
      ++next_;
    }
    stop_ = stop_ || fault_;
  }
  turn_.notify_all();
}

bool BlockLedger::stopped() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void BlockLedger::close(std::uint64_t text_bytes) const {
  if (fault_) std::rethrow_exception(fault_);
  if (declared_ && entries_ < *declared_) {
    if (*declared_ > text_bytes / shortest_entry_line + 1) {
      throw LineFault{lines_before_, ParseFault::entries_exceed_text,
                      std::to_string(*declared_) + " in " + std::to_string(text_bytes) + " bytes"};
    }
    throw LineFault{lines_, ParseFault::too_few_entries,
                    "found " + std::to_string(entries_) + " of " + std::to_string(*declared_)};
  }
}

/// Adds the next block of the file to what is known.
void BlockLedger::count(const Finished& block) {
  if (declared_ && block.entries > *declared_ - entries_) {
    std::uint64_t line = *declared_ - entries_ + 1;  // of the first one too many
    for (const std::uint32_t other : block.others) line += other <= line;
    fault_ = std::make_exception_ptr(LineFault{lines_ + line, ParseFault::too_many_entries,
                                               std::to_string(*declared_) + " were declared"});
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

}  // namespace pagerank::io
