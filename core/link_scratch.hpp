#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "core/types.hpp"

namespace pagerank {

/// Places for so many links, which threads share: each takes some, side by side, and gives them
/// back. The first that are free, so that few are ever touched.
class LinkScratch {
 public:
  explicit LinkScratch(EdgeIndex links) {
    if (links > 0) free_[0] = links;
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
  void take(EdgeIndex wanted, EdgeIndex& begin, EdgeIndex& end) {
    const std::lock_guard lock(mutex_);
    const auto size = [](const auto& gap) { return gap.second - gap.first; };
    auto gap = std::find_if(free_.begin(), free_.end(),
                            [&](const auto& one) { return size(one) >= wanted; });
    if (gap == free_.end()) {
      gap = std::max_element(free_.begin(), free_.end(), [&](const auto& one, const auto& other) {
        return size(one) < size(other);
      });
    }
    if (gap == free_.end()) return;
    begin = gap->first;
    const EdgeIndex gap_end = gap->second;
    end = begin + std::min(wanted, gap_end - begin);
    free_.erase(gap);
    if (end < gap_end) free_[end] = gap_end;
  }
  void give(EdgeIndex begin, EdgeIndex end) {
    const std::lock_guard lock(mutex_);
    const auto next = free_.find(end);
    if (next != free_.end()) {
      end = next->second;
      free_.erase(next);
    }
    const auto after = free_.lower_bound(begin);
    if (after != free_.begin() && std::prev(after)->second == begin) {
      std::prev(after)->second = end;
    } else {
      free_[begin] = end;
    }
  }

  std::mutex mutex_;
  std::map<EdgeIndex, EdgeIndex> free_;  ///< Where gaps begin, and where they end.
};

}  // namespace pagerank
