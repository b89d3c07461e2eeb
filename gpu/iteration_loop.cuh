#pragma once

#include <functional>
#include <vector>

#include "gpu/block_sums.cuh"
#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {

/// The state of a loop in device memory; the host fetches it after a run.
struct LoopControl {
  /// So many iterations at most run before the host hears of them: often enough to show progress
  /// and to be stopped, rarely enough to cost nothing.
  static constexpr unsigned most_iterations = 32;

  double target;
  unsigned limit;
  unsigned iterations;
  double changes[most_iterations];
};

/// Repeats an iteration on the device until its change is small enough, without asking the host: a
/// CUDA graph whose WHILE node runs the iteration, and whose condition the iteration's last kernel
/// sets (CUDA Programming Guide, conditional graph nodes). Where the driver is too old for that, a
/// plain loop that asks after every iteration.
class IterationLoop {
 public:
  /// `queue` queues one iteration into the stream it is given and leaves `blocks` block sums, which
  /// the loop adds up to *sums. It is called now, to record the graph, and again for each iteration
  /// of a plain loop; what it queues must not change between runs.
  /// `on_device` false makes a plain loop in any case.
  IterationLoop(std::function<void(cudaStream_t)> queue, const NodeSums* block_sums,
                unsigned blocks, NodeSums* sums, bool on_device);
  IterationLoop(const IterationLoop&) = delete;
  IterationLoop& operator=(const IterationLoop&) = delete;

  [[nodiscard]] bool on_device() const { return static_cast<bool>(executable_); }

  /// Iterates until sums->change <= target, but at least once and at most `limit` (at most
  /// LoopControl::most_iterations) times. Returns the change of each iteration; the stream is idle
  /// then.
  [[nodiscard]] std::vector<double> run(double target, unsigned limit, const Stream& stream);

 private:
  std::function<void(cudaStream_t)> queue_;
  const NodeSums* block_sums_;
  unsigned blocks_;
  NodeSums* sums_;
  DeviceBuffer<LoopControl> control_;
  PinnedArray<LoopControl> host_control_{1};
  CudaGraph graph_;           ///< Owns the condition: lives as long as what was made of it.
  CudaGraphExec executable_;  ///< Null: plain loop.
};

}  // namespace pagerank::gpu
