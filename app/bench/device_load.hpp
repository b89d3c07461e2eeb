#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/bench/bench_options.hpp"
#include "core/labelled_links.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/benchmark.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// What a reader makes of a text.
struct ReadGraph {
  TransitionMatrix matrix;
  NodeLabels labels;  ///< Of an edge list's nodes; empty: of a file that numbers them.
};

/// What "load --reader device" measures on a GPU: the way of a file, in the page cache, over the
/// bus into a matrix there, and the bus by itself, which is the ceiling.
class DeviceLoad {
 public:
  /// Reads the file a first time. Of the first file that creates the context, as nobody has used
  /// the device before, and is a row of its own. Compares matrix and labels with those `expected`.
  /// A GPU that has too little memory, now or later, is a row without times. Throws what
  /// DeviceReader throws.
  DeviceLoad(const BenchOptions& options, std::string path, const ReadGraph& expected);

  /// What is to be timed in turns; each notes its own seconds.
  [[nodiscard]] std::vector<std::function<void()>> turns();

  /// The rows of all turns so far, and the rate of the bus.
  void add_to(io::BenchmarkTable& table) const;

 private:
  /// Seconds of a load, one a time.
  struct Samples {
    std::vector<double> whole;   ///< From opening the file to the matrix, without the context.
    std::vector<double> stream;  ///< Of these, of text that travels and is parsed.
    double context = 0;          ///< Of the last one.
  };
  void load(Samples& samples, const ReadGraph* expected = nullptr);
  void load_again();
  [[nodiscard]] io::BenchmarkRow row(const std::string& name, const Samples& samples) const;

  const BenchOptions& options_;
  std::string path_;
  bool creates_context_;
  std::uint64_t file_bytes_ = 0;
  std::string refusal_;  ///< Why there are no times.
  Samples first_, later_;
  std::unique_ptr<gpu::BusBenchmark> bus_;
  std::vector<double> bus_seconds_, bus_block_seconds_;
};

}  // namespace pagerank::app::bench
