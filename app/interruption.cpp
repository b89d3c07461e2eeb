#include "app/interruption.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "app/exit_status.hpp"
#include "io/atomic_file.hpp"
#include "io/mapped_file.hpp"

namespace pagerank::app {
namespace {

/// Sent by the program to itself. No one else sends it: a number of its own.
int mapped_file_was_cut_off() {
  return SIGRTMIN;
}

/// Where somebody met the end of what is left of one.
std::atomic<void*> place_cut_off = nullptr;
static_assert(std::atomic<void*>::is_always_lock_free);

/// Who touches a page that its mapped file no longer has cannot go on; nor may a handler do all
/// that there is to do before the end. So the thread that waits for signals is told.
void on_bus_error(int number, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) {  // the memory is broken, for instance
    std::signal(number, SIG_DFL);
    return;  // and meets it again
  }
  place_cut_off = info->si_addr;
  kill(getpid(), mapped_file_was_cut_off());
  for (;;) pause();
}

void say(const std::string& message) {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&standard_error, 1, 0) == 1) {  // who does not read does not keep it from ending
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
  }
}

std::string say_what_was_cut_off() {
  const std::string path = io::path_of_mapped_file(place_cut_off);
  return (path.empty() ? "a mapped file" : path + ": the graph cache") +
         " was cut off, or its disk failed, while it was in use";
}

void wait_and_stop(sigset_t signals, const char* program) {
  int number = 0;
  if (sigwait(&signals, &number) != 0) return;
  io::remove_unfinished_files();
  const bool cut_off = number == mapped_file_was_cut_off();
  say(std::string(isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "") + program + ": error: " +
      (cut_off ? say_what_was_cut_off() : std::string("stopped by ") + strsignal(number)) + "\n");
  _exit(cut_off ? static_cast<int>(ExitStatus::bad_input) : 128 + number);
}

}  // namespace

void stop_cleanly_when_interrupted(const char* program) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&signals, number);
    }
  }
  sigaddset(&signals, mapped_file_was_cut_off());
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Errors of writing, which are reported, and not the end of the program.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  struct sigaction bus_error {};
  bus_error.sa_sigaction = on_bus_error;
  bus_error.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &bus_error, nullptr);
  // A thread that waits for signals may do what a handler may not: wait for a lock, free memory.
  try {
    std::thread(wait_and_stop, signals, program).detach();
  } catch (const std::system_error& error) {
    say(std::string(program) + ": error: no thread is to be had: " + error.code().message() + "\n");
    _exit(static_cast<int>(ExitStatus::unable));
  }
}

}  // namespace pagerank::app
