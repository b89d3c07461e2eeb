#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "core/types.hpp"

namespace pagerank::gpu {

/// What has been uploaded of a graph's links: in stretches of equal length, so that work on one can
/// begin while the next are on their way. Any thread may call any of these.
class LinkArrivals {
 public:
  LinkArrivals(EdgeIndex links, EdgeIndex stretch)
      : links_(links), stretch_(stretch), missing_((links + stretch - 1) / stretch) {
    for (std::size_t s = 0; s < missing_.size(); ++s) missing_[s] = end(s) - begin(s);
  }

  [[nodiscard]] std::size_t stretches() const { return missing_.size(); }
  [[nodiscard]] EdgeIndex begin(std::size_t s) const { return s * stretch_; }
  [[nodiscard]] EdgeIndex end(std::size_t s) const { return std::min(links_, begin(s) + stretch_); }

  /// These links are there. Each is told of once.
  void arrived(EdgeIndex from, EdgeIndex to) {
    const std::scoped_lock lock(mutex_);
    for (EdgeIndex at = from; at < to;) {
      const std::size_t s = at / stretch_;
      const EdgeIndex next = std::min(to, end(s));
      missing_[s] -= next - at;
      at = next;
    }
    changed_.notify_all();
  }
  /// No more will come.
  void failed(std::exception_ptr error) {
    const std::scoped_lock lock(mutex_);
    error_ = std::move(error);
    changed_.notify_all();
  }

  /// Whether none is missing any more.
  [[nodiscard]] bool complete() const {
    const std::scoped_lock lock(mutex_);
    return std::ranges::all_of(missing_, [](EdgeIndex links) { return links == 0; });
  }

  void wait_for_all() const {
    for (std::size_t s = 0; s < stretches(); ++s) wait(s);
  }
  /// Until all of a stretch is there. Throws why it will never be.
  void wait(std::size_t s) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return missing_[s] == 0 || error_; });
    if (missing_[s] > 0) std::rethrow_exception(error_);
  }

 private:
  EdgeIndex links_, stretch_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<EdgeIndex> missing_;  ///< Links of each stretch.
  std::exception_ptr error_;
};

}  // namespace pagerank::gpu
