#pragma once

#include <algorithm>
#include <atomic>

#include "core/types.hpp"

namespace pagerank {

/// How many links threads may gather, all together.
class ScratchBudget {
 public:
  explicit ScratchBudget(EdgeIndex links) : left_(links) {}

  /// What a thread may gather while it has this: as many as it wants, or what is left.
  class Share {
   public:
    Share(ScratchBudget& budget, EdgeIndex wanted) : budget_(budget) {
      EdgeIndex left = budget.left_;
      do {
        links_ = std::min(wanted, left);
      } while (!budget.left_.compare_exchange_weak(left, left - links_));
    }
    ~Share() { budget_.left_ += links_; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    [[nodiscard]] EdgeIndex links() const { return links_; }

   private:
    ScratchBudget& budget_;
    EdgeIndex links_ = 0;
  };

 private:
  std::atomic<EdgeIndex> left_;
};

}  // namespace pagerank
