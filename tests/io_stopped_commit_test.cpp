// What is left by a program that is stopped while a slow file system names its result.
#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "io/atomic_file.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

#ifdef SYS_rename
const std::set<std::uint64_t> renaming = {SYS_rename, SYS_renameat, SYS_renameat2};
#else
const std::set<std::uint64_t> renaming = {SYS_renameat, SYS_renameat2};
#endif
const std::set<std::uint64_t> copying = {SYS_copy_file_range, SYS_sendfile};

/// As some file systems do: no other name for a file from now on.
bool refuse_links() {
  std::array<sock_filter, 4> filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A process that commits a file, another thread of which ends it when it is told to.
class CommittingProcess {
 public:
  CommittingProcess(const std::string& path, bool links) {
    REQUIRE(pipe(end_.data()) == 0);
    process_ = fork();
    if (process_ != 0) return;
    std::thread([this] {
      char byte = 0;
      if (read(end_[0], &byte, 1) == 1) io::remove_unfinished_files();
      _exit(stopped);
    }).detach();
    io::AtomicFile file(path);
    const bool has_name = fs::path(file.written_path()).filename().string().starts_with("scores");
    if (!links && (has_name || !refuse_links())) _exit(cannot);
    file.stream() << "whole";
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(cannot);
    raise(SIGSTOP);
    file.commit();
    _exit(committed);
  }
  ~CommittingProcess() {
    if (WIFSTOPPED(status_)) kill(process_, SIGKILL);
    while (!WIFEXITED(status_) && !WIFSIGNALED(status_)) wait();
    for (const int descriptor : end_) close(descriptor);
  }
  CommittingProcess(const CommittingProcess&) = delete;
  CommittingProcess& operator=(const CommittingProcess&) = delete;

  static constexpr int committed = 1, stopped = 2, cannot = 3;

  /// Lets it go on to one of these calls, which it does not make yet; false if it has ended.
  [[nodiscard]] bool goes_on_to(const std::set<std::uint64_t>& calls) {
    for (wait(); WIFSTOPPED(status_); wait()) {
      ptrace(PTRACE_SETOPTIONS, process_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
      __ptrace_syscall_info call{};
      if (WSTOPSIG(status_) == (SIGTRAP | 0x80) &&
          ptrace(PTRACE_GET_SYSCALL_INFO, process_, sizeof call, &call) > 0 &&
          call.op == PTRACE_SYSCALL_INFO_ENTRY && calls.contains(call.entry.nr)) {
        return true;
      }
      ptrace(PTRACE_SYSCALL, process_, nullptr, nullptr);
    }
    return false;
  }

  /// Has it end as if by a signal; its exit status.
  int end() {
    if (!WIFEXITED(status_)) {
      REQUIRE(write(end_[1], "", 1) == 1);
      wait();
    }
    return WEXITSTATUS(status_);
  }

 private:
  void wait() { REQUIRE(waitpid(process_, &status_, 0) == process_); }

  pid_t process_ = 0;
  int status_ = 0x7f;  ///< Not ended.
  std::array<int, 2> end_{};
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder)) names.push_back(file.path().filename());
  return names;
}

}  // namespace

TEST_CASE("no temporary name is left by who is stopped while a file gets its own") {
  for (const bool links : {true, false}) {
    CAPTURE(links);
    const TemporaryDirectory files;
    write_file(files / "scores.tsv", "before");
    CommittingProcess process((files / "scores.tsv").string(), links);
    if (process.goes_on_to(links ? renaming : copying)) {
      CHECK(names_in(files.path()).size() == 2);
    }
    const int status = process.end();
    if (status == CommittingProcess::cannot) {
      MESSAGE("not tested: processes may not be held up here");
      return;
    }
    CHECK(status == CommittingProcess::stopped);
    CHECK(names_in(files.path()) == std::vector<std::string>{"scores.tsv"});
    CHECK(read_file(files / "scores.tsv") == "before");
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
