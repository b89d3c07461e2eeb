#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace pagerank::app {

/// How far something is, `share` of it (below 0 none, above 1 all): "[########............]".
[[nodiscard]] std::string progress_bar(double share);

/// Shows on standard error how far a long step is: on a terminal one line that changes ten times a
/// second, elsewhere a line a second. Steps that are over in a moment show nothing on a terminal.
class ProgressDisplay {
 public:
  /// What there is to say now; called from the display's own thread while the step lasts.
  using Line = std::function<std::string()>;

  explicit ProgressDisplay(bool shown);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// The step before, if any, is over, and another begins.
  void begin(Line line);

  /// The step is over: its line is not asked for any more. Where lines stay, it is shown once more.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  bool shown_;  ///< Changes in the constructor only.
  const bool terminal_;
  std::mutex mutex_;  ///< Guards what follows.
  std::condition_variable changed_;
  Line line_;  ///< Null: no step.
  Clock::time_point next_;
  bool stopping_ = false;
  std::thread thread_;
};

/// A step that ends when it is left, by an exception too.
class ProgressStep {
 public:
  ProgressStep(ProgressDisplay& display, ProgressDisplay::Line line) : display_(display) {
    display_.begin(std::move(line));
  }
  ~ProgressStep() { display_.end(); }
  ProgressStep(const ProgressStep&) = delete;
  ProgressStep& operator=(const ProgressStep&) = delete;

 private:
  ProgressDisplay& display_;
};

}  // namespace pagerank::app
