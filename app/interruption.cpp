#include "app/interruption.hpp"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "io/atomic_file.hpp"

namespace pagerank::app {

void stop_cleanly_when_interrupted(const char* program) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      sigaddset(&signals, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A thread that waits for signals may do what a handler may not: wait for a lock, free memory.
  std::thread([signals, program] {
    int number = 0;
    if (sigwait(&signals, &number) != 0) return;
    io::remove_unfinished_files();
    const std::string message = std::string(isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "") +
                                program + ": error: stopped by " + strsignal(number) + "\n";
    pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&standard_error, 1, 0) == 1) {  // who does not read does not keep it from ending
      [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
    }
    _exit(128 + number);
  }).detach();
}

}  // namespace pagerank::app
