#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/bench/bench_options.hpp"
#include "core/array.hpp"
#include "core/edge_list.hpp"
#include "io/benchmark_report.hpp"

namespace pagerank::app::bench {

/// Times how fast all threads together read memory: the ceiling of what runs on the host.
class MemoryReading {
 public:
  /// Of so many bytes, or as many as suffice to say how long they take.
  MemoryReading(std::uint64_t bytes, int threads);
  /// Reads it once more.
  void read();
  /// The same for 20 ms, and takes the mean time.
  void sample();
  /// A row with the times of all samples so far.
  [[nodiscard]] io::BenchmarkRow row(const std::string& name) const;

 private:
  std::uint64_t bytes_;
  int threads_;
  Array<std::uint64_t> memory_;
  std::vector<double> seconds_;
  std::uint64_t found_ = 0;
};

/// "load": times the way from a file, in the page cache, to the matrix, in turns with what bounds
/// it: reading the file's bytes and reading memory with as many threads, and counting the file's
/// lines with one. Also to the CPU engine's layout, if that lays the links out. Of a compressed
/// file decompressing it, by one thread. If there is a cache of the file beside it, also from
/// there. A file that is a graph cache is loaded as such. If it is asked for, also by a GPU's
/// reader.
void run_load(const BenchOptions& options, const std::string& path, io::BenchmarkTable& table);

/// "build": times the way from an edge list to the matrix, in turns with reading memory.
void run_build(const BenchOptions& options, const EdgeList& edges, io::BenchmarkTable& table);

}  // namespace pagerank::app::bench
