#include "app/logging.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace pagerank::app {
namespace {

/// Standard error, with a last line that may change.
class StandardError final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void show_status(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (!terminal_) {
      if (!line.empty()) write(std::string(line) + '\n');
      return;
    }
    if (line.empty() && !status_shown_) return;
    write(std::string(erase_line).append(fitted(line)));
    status_shown_ = !line.empty();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    std::string text = status_shown_ ? erase_line : "";
    status_shown_ = false;
    write(text.append(formatted.data(), formatted.size()));
  }
  void flush_() override { std::fflush(stderr); }

 private:
  static constexpr const char* erase_line = "\r\x1b[K";
  /// What one row of the terminal can show of it: only one can be erased.
  static std::string fitted(std::string_view line) {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    std::string text(line.substr(0, known ? size.ws_col - 1U : 79U));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
    return text;
  }
  static void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
  bool terminal_ = logs_to_terminal();
  bool status_shown_ = false;
};

/// The one that start_logging() made last.
std::shared_ptr<StandardError>& standard_error() {
  static std::shared_ptr<StandardError> sink = std::make_shared<StandardError>();
  return sink;
}

}  // namespace

bool logs_to_terminal() {
  return isatty(STDERR_FILENO) != 0;
}

void start_logging(const char* program) {
  standard_error() = std::make_shared<StandardError>();
  auto logger = std::make_shared<spdlog::logger>(program, standard_error());
  logger->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

void show_status(std::string_view line) {
  standard_error()->show_status(line);
}

}  // namespace pagerank::app
