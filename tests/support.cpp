#include "tests/support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "core/cpu_engine.hpp"
#include "gpu/pagerank.hpp"
#include "tests/shared_memory_limit.hpp"

namespace pagerank::tests {

fs::path source_dir() {
  if (const char* dir = std::getenv("PAGERANK_SOURCE_DIR")) return dir;
  return PAGERANK_SOURCE_DIR;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "pagerank-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_gzip_file(const fs::path& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  if (gzclose(file) != Z_OK) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const fs::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const int got = gzread(file, buffer, sizeof buffer);
    if (got <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  gzclose(file);
  return bytes;
}

double l1_distance(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::nan("");
  long double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) distance += std::abs(a[i] - b[i]);
  return static_cast<double>(distance);
}

RunResult run_pagerank(const std::vector<std::string>& arguments, const std::string& input) {
  return run_program("pagerank", arguments, input);
}

namespace {

/// The most memory that a process has had so far as the program of that name; what it was before, a
/// copy of this one, does not count. Once it has ended: what was known before.
void note_peak(pid_t process, const std::string& program, std::uint64_t& peak) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string name;
  status >> name >> name;  // of a line that begins with Name:
  for (std::string word; name == program && status >> word;) {
    if (word != "VmHWM:") continue;
    std::uint64_t kilobytes = 0;
    if (status >> kilobytes) peak = kilobytes * 1024;
    return;
  }
}

}  // namespace

RunResult run_program(const std::string& program_name, const std::vector<std::string>& arguments,
                      const std::string& input) {
  const TemporaryDirectory files;
  write_file(files / "in", input);
  return run_program_on(program_name, arguments, files / "in");
}

std::string path_of_program(const std::string& program) {
  return (fs::read_symlink("/proc/self/exe").parent_path() / program).string();
}

RunResult run_program_on(const std::string& program_name, const std::vector<std::string>& arguments,
                         const fs::path& input) {
  const TemporaryDirectory files;
  const std::string program = path_of_program(program_name);
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  // Named here: what allocates between fork and exec may wait for ever for a thread of before, if
  // that was allocating.
  const std::string out = (files / "out").string(), err = (files / "err").string();

  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const auto redirect = [](const char* path, int flags, int to) {
      dup2(open(path, flags, 0600), to);
    };
    redirect(input.c_str(), O_RDONLY, STDIN_FILENO);
    redirect(out.c_str(), O_WRONLY | O_CREAT, STDOUT_FILENO);
    redirect(err.c_str(), O_WRONLY | O_CREAT, STDERR_FILENO);
    execv(program.c_str(), const_cast<char* const*>(argv.data()));
    _exit(127);
  }
  std::uint64_t peak = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    note_peak(child, program_name, peak);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          read_file(err), elapsed.count(), peak};
}

std::string tested_engines() {
  const char* const engines = std::getenv("PAGERANK_TEST_ENGINES");
  if (engines != nullptr) return engines;
  return is_required("PAGERANK_REQUIRE_GPU") ? "gpu" : "cpu";
}

bool is_required(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

bool has_gpu() {
  const std::string reason = gpu::unavailable_reason();
  if (reason.empty()) return true;
  if (is_required("PAGERANK_REQUIRE_GPU")) {
    FAIL_CHECK(reason);
  } else {
    MESSAGE("skipped, it needs a GPU: ", reason);
  }
  return false;
}

CpuSizes small_cpu_sizes() {
  return {.plain = {.block_links = 100, .block_rows = 64},
          .blocked = {.window_bytes = 1024,
                      .block_rows = 128,
                      .block_links = 2000,
                      .least_rows = 8,
                      .group_bytes = 12000,
                      .task_links = 500,
                      .streamed_bytes = 8000}};
}

namespace {

/// Every layout, as it is cut by default and small enough that graphs of the tests have many of
/// each part.
std::vector<std::pair<std::string, CpuEngineOptions>> cpu_cases() {
  using enum CpuLayout;
  return {
      {"1", {.threads = 1}},
      {"3", {.threads = 3}},
      {"plain in small pieces", {.threads = 3, .layout = plain, .sizes = small_cpu_sizes()}},
      {"blocked", {.threads = 2, .layout = blocked}},
      {"blocked in small pieces", {.threads = 3, .layout = blocked, .sizes = small_cpu_sizes()}}};
}

/// Most graphs of tests arrive in several.
constexpr EdgeIndex small_stretch = 1 << 10;

}  // namespace

std::vector<EngineCase> engine_cases() {
  std::vector<EngineCase> cases;
  for (const Precision precision : {Precision::float64, Precision::mixed, Precision::float32}) {
    const std::string type = precision == Precision::float64 ? " double"
                             : precision == Precision::mixed ? " mixed"
                                                             : " float";
    if (tested_engines() == "gpu") {
      for (const gpu::Kernel& kernel : gpu::kernels()) {
        const std::string name(kernel.name);
        std::vector<std::size_t> shared_memories = {0};
        if (name == "blocked") {  // which is laid out by it
          shared_memories.insert(shared_memories.end(), std::begin(smaller_shared_memories),
                                 std::end(smaller_shared_memories));
        }
        for (const std::size_t shared_memory : shared_memories) {
          std::string of_case = "gpu " + name + type;
          if (shared_memory > 0) of_case += ", shared memory " + std::to_string(shared_memory);
          cases.push_back({std::move(of_case), precision, kernel.same_bits, kernel.library,
                           [=](const TransitionMatrix& matrix) -> std::unique_ptr<Engine> {
                             const SharedMemoryLimit limit(shared_memory);
                             try {
                               return std::make_unique<gpu::Engine>(
                                   matrix, gpu::EngineOptions{.kernel = name,
                                                              .precision = precision,
                                                              .upload_stretch = small_stretch});
                             } catch (const gpu::KernelRefused&) {
                               if (name != "ell") throw;
                               return nullptr;
                             }
                           }});
        }
      }
    } else {
      for (const auto& [name, options] : cpu_cases()) {
        std::string of_case = "cpu ";
        of_case.append(name).append(type);
        cases.push_back({std::move(of_case), precision, true, false,
                         [=, options = options](const TransitionMatrix& matrix) {
                           CpuEngineOptions all = options;
                           all.precision = precision;
                           return std::make_unique<CpuEngine>(matrix, all);
                         }});
      }
    }
  }
  return cases;
}

EdgeList make_graph(NodeId nodes, const std::vector<std::pair<NodeId, NodeId>>& links,
                    const std::vector<double>& weights) {
  EdgeList edges;
  edges.node_count = nodes;
  for (const auto& [source, target] : links) edges.add_entry(SourceIndex::row, source, target);
  edges.weights.assign(weights.begin(), weights.end());
  return edges;
}

}  // namespace pagerank::tests
