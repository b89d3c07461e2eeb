#include "app/progress_display.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "app/logging.hpp"

namespace pagerank::app {

using namespace std::chrono_literals;

std::string progress_bar(double share) {
  constexpr std::size_t width = 20;
  const double shown = share > 0 ? std::min(share, 1.0) : 0;  // nothing of what is no number
  std::string bar(width, '.');
  bar.replace(0, static_cast<std::size_t>(shown * width), static_cast<std::size_t>(shown * width),
              '#');
  return '[' + bar + ']';
}

ProgressDisplay::ProgressDisplay(bool shown) : shown_(shown), terminal_(logs_to_terminal()) {
  if (!shown_) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no more threads are to be had: it goes on unseen
    shown_ = false;
  }
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
