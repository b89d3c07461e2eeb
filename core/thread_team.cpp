#include "core/thread_team.hpp"

#include <algorithm>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pagerank {
namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits a moment for what another thread is about to do; whether it did.
template <class Condition>
bool spin_until(Condition condition) {
  constexpr int rounds = 1000;  // some ten microseconds: what waking a thread costs
  for (int i = 0; i < rounds; ++i) {
    if (condition()) return true;
    pause();
  }
  return condition();
}

}  // namespace

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run(const Loop& loop) {
  try {
    while (workers_.size() + 1 < std::min(static_cast<std::size_t>(threads_), loop.count)) {
      workers_.emplace_back([this] { work(); });
    }
  } catch (const std::system_error&) {  // no more threads are to be had: these will do
    threads_ = static_cast<int>(workers_.size()) + 1;
  }
  {
    const std::lock_guard lock(mutex_);
    loop_ = loop;
    open_ = true;
    error_ = nullptr;
    next_ = 0;
    ++round_;
  }
  begun_.notify_all();
  take_part(loop);
  std::unique_lock lock(mutex_);
  open_ = false;
  if (inside_ > 0) {
    lock.unlock();
    spin_until([this] { return inside_ == 0; });
    lock.lock();
    left_.wait(lock, [this] { return inside_ == 0; });
  }
  if (error_) std::rethrow_exception(error_);
}

void ThreadTeam::take_part(const Loop& loop) {
  try {
    for (std::size_t i = 0; (i = next_.fetch_add(1, std::memory_order_relaxed)) < loop.count;) {
      loop.call(loop.body, i);
    }
  } catch (...) {
    next_ = loop.count;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadTeam::work() {
  std::uint32_t seen = 0;
  for (;;) {
    spin_until([&] { return round_ != seen || ending_; });
    std::unique_lock lock(mutex_);
    begun_.wait(lock, [&] { return (open_ && round_ != seen) || ending_; });
    if (ending_) return;
    seen = round_;
    const Loop loop = loop_;
    ++inside_;
    lock.unlock();
    take_part(loop);
    lock.lock();
    if (--inside_ == 0) left_.notify_one();
  }
}

}  // namespace pagerank
