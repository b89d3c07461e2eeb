#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <vector>

#include "core/types.hpp"

namespace pagerank {

/// Places for so many links, which threads share: each takes some, side by side, and gives them
/// back. The first that are free, so that few are ever touched.
class LinkScratch {
 public:
  explicit LinkScratch(EdgeIndex links) {
    if (links > 0) free_.push_back({0, links});
  }

  /// What a thread has: as many places as it wanted, or the most that are left side by side.
  class Share {
   public:
    Share(LinkScratch& scratch, EdgeIndex wanted) : scratch_(scratch) {
      if (wanted > 0) scratch_.take(wanted, begin_, end_);
    }
    ~Share() {
      if (links() > 0) scratch_.give(begin_, end_);
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    [[nodiscard]] EdgeIndex begin() const { return begin_; }
    [[nodiscard]] EdgeIndex links() const { return end_ - begin_; }

   private:
    LinkScratch& scratch_;
    EdgeIndex begin_ = 0, end_ = 0;
  };

 private:
  struct Gap {
    EdgeIndex begin, end;
    [[nodiscard]] EdgeIndex size() const { return end - begin; }
  };
  void take(EdgeIndex wanted, EdgeIndex& begin, EdgeIndex& end) {
    const std::lock_guard lock(mutex_);
    // give() must not fail: there is a gap more than there are shares, at most.
    free_.reserve(shares_ + 2);
    auto gap = std::find_if(free_.begin(), free_.end(),
                            [&](const Gap& one) { return one.size() >= wanted; });
    if (gap == free_.end()) {
      gap = std::max_element(free_.begin(), free_.end(), [](const Gap& one, const Gap& other) {
        return one.size() < other.size();
      });
    }
    if (gap == free_.end()) return;
    begin = gap->begin;
    end = gap->begin += std::min(wanted, gap->size());
    if (gap->size() == 0) free_.erase(gap);
    ++shares_;
  }
  void give(EdgeIndex begin, EdgeIndex end) noexcept {
    const std::lock_guard lock(mutex_);
    --shares_;
    const auto after =
        std::find_if(free_.begin(), free_.end(), [&](const Gap& gap) { return gap.begin >= end; });
    const bool joins_after = after != free_.end() && after->begin == end;
    const bool joins_before = after != free_.begin() && std::prev(after)->end == begin;
    if (joins_before) {
      std::prev(after)->end = joins_after ? after->end : end;
      if (joins_after) free_.erase(after);
    } else if (joins_after) {
      after->begin = begin;
    } else {
      free_.insert(after, {begin, end});
    }
  }

  std::mutex mutex_;
  std::vector<Gap> free_;  ///< Ascending, none beside another.
  std::size_t shares_ = 0;
};

}  // namespace pagerank
