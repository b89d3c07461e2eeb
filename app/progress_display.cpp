#include "app/progress_display.hpp"

#include <utility>

#include "app/logging.hpp"

namespace pagerank::app {

using namespace std::chrono_literals;

ProgressDisplay::ProgressDisplay(bool shown) : shown_(shown), terminal_(logs_to_terminal()) {
  if (shown_) thread_ = std::thread([this] { run(); });
}

ProgressDisplay::~ProgressDisplay() {
  end();
  if (!shown_) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressDisplay::begin(Line line) {
  if (!shown_) return;
  end();
  const std::lock_guard lock(mutex_);
  line_ = std::move(line);
  next_ = Clock::now() + (terminal_ ? 300ms : 1000ms);
  changed_.notify_one();
}

void ProgressDisplay::end() {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  if (line_ == nullptr) return;
  show_status(terminal_ ? "" : line_());
  line_ = nullptr;
}

void ProgressDisplay::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (line_ == nullptr) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, next_) == std::cv_status::timeout && line_ != nullptr &&
               Clock::now() >= next_) {
      show_status(line_());
      next_ = Clock::now() + (terminal_ ? 100ms : 1000ms);
    }
  }
}

}  // namespace pagerank::app
