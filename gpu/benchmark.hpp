#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/transition_matrix.hpp"
#include "core/types.hpp"
#include "gpu/pagerank.hpp"

/// What pagerank-bench measures on a GPU. Plain C++ like pagerank.hpp: a build without CUDA has the
/// same symbols and throws NotCompiled. All times are device times by CUDA events.
namespace pagerank::gpu {

/// How long one thing is measured: after two unmeasured runs, so many as `seconds` hold, but at
/// least and at most as many as said.
struct TimingOptions {
  double seconds = 0.3;
  std::uint32_t least_samples = 5;
  std::uint32_t most_samples = 200;
};

struct Ceilings {
  double copy_bytes_per_second;  ///< Bytes read and written by a copy too large for the caches.
  double fma_flops_per_second;   ///< Multiply-adds of `precision` in registers, two flops each.
};
/// Throws NotCompiled, NoDevice, OutOfMemory and CudaError.
[[nodiscard]] Ceilings measure_ceilings(int device, Precision precision);

struct Timing {
  double prepare_seconds = 0;   ///< Wall time from the graph on the device to a ready kernel.
  std::vector<double> samples;  ///< Seconds, one a run.
  std::uint64_t bytes = 0;      ///< That a run must move at least: each array of its layout once.
};

/// Multiplies one matrix with one kernel after the other.
class SpmvBenchmark {
 public:
  class Impl;  ///< One for each precision.

  /// Uploads the matrix. `values`: give an unweighted one a values array (1 / out-weight of the
  /// source), so that kernels multiply with B itself; a weighted one has it in any case. The
  /// matrix outlives the benchmark. Throws what Engine throws.
  SpmvBenchmark(const TransitionMatrix& matrix, int device, Precision precision, bool values);
  ~SpmvBenchmark();

  /// Times y = A x; x (one number a node) is rounded to the precision, y receives one run's result.
  /// Throws KernelRefused, OutOfMemory (before anything is allocated where the estimate tells),
  /// CudaError, and std::invalid_argument for an unknown kernel or an x of another length.
  [[nodiscard]] Timing run(std::string_view kernel, std::span<const double> x,
                           std::vector<double>& y, const TimingOptions& options);

 private:
  std::unique_ptr<Impl> impl_;
};

/// The ways to add up a vector, from the naive one upwards. Empty without CUDA.
[[nodiscard]] std::vector<Kernel> reductions();

/// Sums the magnitudes of one vector with one reduction after the other.
class ReductionBenchmark {
 public:
  class Impl;  ///< One for each precision.

  /// Uploads x, rounded to the precision. Throws NotCompiled, NoDevice, OutOfMemory and CudaError.
  ReductionBenchmark(std::span<const double> x, int device, Precision precision);
  ~ReductionBenchmark();

  /// Throws KernelRefused (the library that it needs is not there), CudaError, and
  /// std::invalid_argument for an unknown one.
  [[nodiscard]] Timing run(std::string_view reduction, double& sum, const TimingOptions& options);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Copies page-locked memory of the host to a device: what no reader of text can be faster than.
class BusBenchmark {
 public:
  class Impl;

  /// Makes `bytes` of it, more than 0, on either side. Throws NoDevice, OutOfMemory and CudaError.
  BusBenchmark(int device, std::size_t bytes);
  ~BusBenchmark();

  /// Seconds of copying all of it once, in pieces of so many bytes, queued one behind the other.
  [[nodiscard]] double copy(std::size_t piece_bytes);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace pagerank::gpu
