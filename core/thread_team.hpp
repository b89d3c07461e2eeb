#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace pagerank {

/// Threads that live as long as this and share the work of many short loops: what a loop costs
/// beside its work is a few microseconds. Between loops a thread spins for some ten microseconds
/// and sleeps after that. A loop waits for its own work only, never for a thread that has not woken
/// yet.
class ThreadTeam {
 public:
  /// The calling thread is one of `threads`; the others start with the first loop that has work for
  /// them.
  explicit ThreadTeam(int threads) : threads_(threads < 1 ? 1 : threads) {}
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] int size() const { return threads_; }

  /// Calls body(i) for each i in [0, count), handed out in order as threads get free, and returns
  /// when all is done. Rethrows an exception of a body; what had not begun then is left out.
  template <class Body>
  void for_each(std::size_t count, Body&& body) {
    if (threads_ == 1 || count <= 1) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    using Plain = std::remove_reference_t<Body>;
    run({.call = [](void* plain, std::size_t i) { (*static_cast<Plain*>(plain))(i); },
         .body = const_cast<void*>(static_cast<const void*>(std::addressof(body))),
         .count = count});
  }

 private:
  struct Loop {
    void (*call)(void* body, std::size_t i) = nullptr;
    void* body = nullptr;
    std::size_t count = 0;
  };

  void run(const Loop& loop);
  void take_part(const Loop& loop);
  void work();

  int threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begun_, left_;
  Loop loop_;          ///< Guarded by mutex_, as open_ and error_.
  bool open_ = false;  ///< Workers may still enter the loop.
  std::exception_ptr error_;
  std::atomic<std::uint32_t> round_ = 0;   ///< Loops begun; written under mutex_.
  std::atomic<std::uint32_t> inside_ = 0;  ///< Workers in the loop; written under mutex_.
  std::atomic<bool> ending_ = false;       ///< Written under mutex_.
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace pagerank
