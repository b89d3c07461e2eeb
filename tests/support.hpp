#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/edge_list.hpp"
#include "core/in_link_sums.hpp"
#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank::tests {

namespace fs = std::filesystem;

/// The checkout: PAGERANK_SOURCE_DIR of the environment, or where the tests were built from.
[[nodiscard]] fs::path source_dir();

/// A directory of its own for each test case that asks, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, const std::string& bytes);
void write_gzip_file(const fs::path& path, const std::string& bytes);
[[nodiscard]] std::string read_file(const fs::path& path);  ///< Decompresses .gz.

[[nodiscard]] double l1_distance(std::span<const double> a, std::span<const double> b);

/// What a finished run of the program left.
struct RunResult {
  int status;  ///< Exit status, or 128 + signal.
  std::string out, err;
  double seconds;
  std::uint64_t peak_bytes;  ///< Of resident memory.
};

/// Where a program that was built beside the tests is, for a shell.
[[nodiscard]] std::string path_of_program(const std::string& program);
/// Runs a program that was built beside the tests. `input` becomes its standard input.
[[nodiscard]] RunResult run_program(const std::string& program,
                                    const std::vector<std::string>& arguments,
                                    const std::string& input = {});
/// The same, of which standard input is a file.
[[nodiscard]] RunResult run_program_on(const std::string& program,
                                       const std::vector<std::string>& arguments,
                                       const fs::path& input);
[[nodiscard]] RunResult run_pagerank(const std::vector<std::string>& arguments,
                                     const std::string& input = {});

/// An engine under test.
struct EngineCase {
  std::string name;  ///< "cpu double", "gpu vector float"
  Precision precision;
  bool same_bits;  ///< Two runs give the same bits.
  bool library;    ///< Sums that are not ours: in float, only the certificate is held against it.
  /// Null where the kernel refuses the graph, which only "ell" may.
  std::function<std::unique_ptr<Engine>(const TransitionMatrix&)> make;
};

/// "cpu" or "gpu": the environment's PAGERANK_TEST_ENGINES; without it "gpu" where a GPU is
/// required, else "cpu".
[[nodiscard]] std::string tested_engines();

/// Sizes that cut graphs of some thousand nodes into many of all that the CPU engine cuts them
/// into.
[[nodiscard]] CpuSizes small_cpu_sizes();

/// CPU: every precision and layout, several numbers of threads. GPU: every kernel in both
/// precisions.
[[nodiscard]] std::vector<EngineCase> engine_cases();

/// Whether a variable of the environment says that tests may not be skipped for want of something:
/// it is set, and neither empty nor 0.
[[nodiscard]] bool is_required(const char* variable);

/// Whether a test of the GPU can run; says so where it cannot, and fails where it must.
[[nodiscard]] bool has_gpu();

/// A graph from pairs (source, target), counted from 0.
[[nodiscard]] EdgeList make_graph(NodeId nodes, const std::vector<std::pair<NodeId, NodeId>>& links,
                                  const std::vector<double>& weights = {});

}  // namespace pagerank::tests
