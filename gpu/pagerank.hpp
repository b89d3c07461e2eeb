#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/device_reader.hpp"
#include "gpu/kernel_choice.hpp"

/// PageRank on NVIDIA GPUs. This header is plain C++: a build without the CUDA toolkit has the same
/// symbols, finds no devices and throws NotCompiled.
namespace pagerank::gpu {

/// A GPU engine was asked of a build without CUDA.
class NotCompiled : public std::runtime_error {
 public:
  NotCompiled() : std::runtime_error("this program was built without CUDA") {}
};

/// No GPU that this build can use; what() is the reason.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call of the CUDA runtime or of cuSPARSE failed; what() names the call, its place and reason.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The kernel asked for cannot take this graph; what() is the reason.
class KernelRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Device {
  int index;               ///< What --device takes.
  std::string name;        ///< "NVIDIA H100 80GB HBM3"
  std::size_t memory;      ///< Bytes.
  std::string capability;  ///< Compute capability, "9.0".
};

struct Kernel {
  std::string_view name;
  std::string_view lesson;  ///< One line: what it does differently.
  bool same_bits;           ///< Gives the same bits every run: all do but "cusparse-alg1".
  bool wide_sums = true;    ///< Adds up floats in double.
  bool library = false;     ///< An SpMV that is not ours: reads values of every graph.
};

/// Why GPU `device` cannot be used as far as the driver tells without entering it (which takes a
/// fifth of a second); empty if it can.
[[nodiscard]] std::string unavailable_reason(int device = 0);

/// Whether there is a driver, without which there is no GPU. Unlike the above it neither wakes one
/// nor waits for who does.
[[nodiscard]] bool has_driver();

/// Creates the context of the device, which takes a fifth of a second, so that an Engine made later
/// finds it there: for a thread beside the reading of a graph. Failures show when an Engine is
/// made.
void create_context(int device) noexcept;

/// The devices that the driver shows; none without CUDA or a driver.
[[nodiscard]] std::vector<Device> devices();

/// The SpMV kernels an Engine can iterate with. Empty without CUDA.
[[nodiscard]] std::vector<Kernel> kernels();

/// Whether the kernel of that name is a library's; "auto" takes none.
[[nodiscard]] inline bool is_library(std::string_view name) {
  for (const Kernel& kernel : kernels()) {
    if (kernel.name == name) return kernel.library;
  }
  return false;
}

struct EngineOptions {
  int device = 0;
  /// A name of kernels(); empty or "auto": the one that suits the graph and the expected work, or,
  /// where that one cannot have it (too little memory, another GPU), "balanced". Where that hangs
  /// on how fast the graph mixes, "balanced" begins, and the first solve that turns out long enough
  /// goes on with the other.
  std::string kernel;
  ExpectedWork expected;
  Precision precision = Precision::float64;

  int threads = 0;  ///< That feed the upload and fetch scores; 0: as many as OpenMP offers.

  /// Links that are worked on together as they arrive. A graph of less than that is uploaded before
  /// anything else on the device begins.
  EdgeIndex upload_stretch = EdgeIndex{1} << 22;

  /// Bytes of device memory that the engine may take, those of a matrix that it takes over among
  /// them; 0: what is free.
  std::size_t memory_limit = 0;

  /// Iterate in a CUDA graph that decides on the device whether to go on, rather than ask after
  /// each iteration; a plain loop where the driver is older than 12.4 and under compute-sanitizer,
  /// which cannot follow conditional nodes. The same bits either way.
  bool device_loop = true;
};

/// Power iteration on one GPU: the graph is uploaded by the constructor, scores are downloaded once
/// a solve. The same input on the same device gives the same bits, but for kernels that
/// Kernel::same_bits excepts; a solve that changes the kernel may give others than those after it,
/// of which each keeps what its certificate says.
class Engine final : public pagerank::Engine {
 public:
  /// Copies what it needs of `matrix`. Throws NotCompiled, NoDevice, OutOfMemory (before anything
  /// is allocated where the estimate tells), KernelRefused, CudaError, std::invalid_argument for an
  /// unknown kernel or a graph without nodes, and std::system_error where no thread is to be had.
  explicit Engine(const TransitionMatrix& matrix, const EngineOptions& options = {});

  /// Takes over a matrix that lies on options.device. Throws the same; the matrix is gone then.
  explicit Engine(DeviceMatrix matrix, const EngineOptions& options = {});
  ~Engine() override;

  /// Throws what pagerank::Engine::solve() does, OutOfMemory (of the
  /// device, where scores or another kernel do not fit), CudaError and std::system_error.
  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) override;
  [[nodiscard]] std::string device() const override;
  [[nodiscard]] std::uint64_t bytes_per_iteration() const override;
  [[nodiscard]] std::string_view kernel() const override;  ///< Never "auto".

  /// Whether EngineOptions::device_loop could be granted.
  [[nodiscard]] bool loops_on_device() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pagerank::gpu
