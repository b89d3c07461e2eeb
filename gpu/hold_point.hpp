#pragma once

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace pagerank::gpu {

/// Where a thread that prepares something waits, with what it has done by then, until it is known
/// whether the rest is wanted. Any thread may call any of these.
class HoldPoint {
 public:
  /// What is thrown at the thread that waits for something that is not wanted.
  class Abandoned : public std::runtime_error {
   public:
    Abandoned() : std::runtime_error("no longer wanted") {}
  };

  /// Of the thread that prepares: returns once the rest is wanted. Throws Abandoned.
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return wanted_ || abandoned_; });
    if (abandoned_) throw Abandoned();
  }

  void want() { set(wanted_); }
  void abandon() { set(abandoned_); }

 private:
  void set(bool& what) {
    const std::scoped_lock lock(mutex_);
    what = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, abandoned_ = false;
};

}  // namespace pagerank::gpu
