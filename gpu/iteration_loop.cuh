#pragma once

#include <functional>
#include <vector>

#include "gpu/block_sums.cuh"
#include "gpu/cuda_handles.cuh"
#include "gpu/kernel_change.hpp"

namespace pagerank::gpu {

/// The state of a loop in device memory; the host fetches it after a run.
struct LoopControl {
  /// So many iterations at most run before the host hears of them: often enough to show progress
  /// and to be stopped, rarely enough to cost nothing.
  static constexpr unsigned most_iterations = 32;

  double target;
  unsigned limit;
  unsigned iterations;
  KernelLooks looks;
  unsigned go_on;
  double changes[most_iterations];

  /// After an iteration: go_on = whether there is another.
  PAGERANK_HOST_DEVICE void note(double change) {
    const unsigned of_run = iterations + 1;
    const bool more = change > target && of_run < limit;
    changes[iterations] = change;
    iterations = of_run;
    go_on = more && !looks.look(changes, of_run) ? 1 : 0;
  }
};

/// How an iteration ends: by its last kernel, whose blocks each leave their sums and then call
/// block_done(). The last block to do so adds them up, notes the change and decides whether there
/// is another iteration. Passed to kernels by value.
struct IterationEnd {
  NodeSums* sums;        ///< Of the iteration.
  unsigned* done;        ///< Blocks so far; 0 before and after.
  LoopControl* control;  ///< Null: an update that is no iteration of the loop.
  cudaGraphConditionalHandle condition;
  bool in_graph;  ///< `condition` is to be set.

#ifdef __CUDACC__
  /// For all threads of a block of sum_block_size, whose first has written
  /// block_sums[blockIdx.x].
  __device__ void block_done(const NodeSums* block_sums) const {
    __shared__ bool last;
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(done, 1) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    const NodeSums sum = sum_of_blocks(block_sums, gridDim.x);
    if (threadIdx.x > 0) return;
    *sums = sum;
    *done = 0;
    if (control == nullptr) return;
    control->note(sum.change);
    if (in_graph) cudaGraphSetConditional(condition, control->go_on);
  }
#endif
};

/// What loops of which one runs at a time share.
struct LoopMemory {
  LoopMemory(const std::optional<ScratchMemory>& reserved, cudaStream_t stream)
      : done(1, reserved), control(1, reserved) {
    done.set_to_zero(stream);
  }
  static constexpr std::size_t bytes = sizeof(unsigned) + sizeof(LoopControl);  ///< Of the device.

  /// Of which copies arrive on the host.
  struct Fetched {
    LoopControl control;
    NodeSums sums;
  };

  DeviceBuffer<unsigned> done;
  DeviceBuffer<LoopControl> control;
  PinnedArray<Fetched> fetched{1};
};

/// Repeats an iteration on the device until its change is small enough, or such that another kernel
/// pays, without asking the host: a CUDA graph whose WHILE node runs the iteration, and whose
/// condition the iteration's last kernel sets (CUDA Programming Guide, conditional graph nodes).
/// Where the driver is too old for that, a plain loop that asks after every iteration.
class IterationLoop {
 public:
  /// Queues one iteration into the stream it is given; its last kernel ends it as it is told.
  using Queue = std::function<void(cudaStream_t, const IterationEnd&)>;

  /// `queue` is called now, to record the graph, and again for each iteration of a plain loop; what
  /// it queues must not change between runs. Iterations leave their sums in *sums. `memory`
  /// outlives the loop. `on_device` false makes a plain loop in any case.
  IterationLoop(Queue queue, NodeSums* sums, LoopMemory& memory, bool on_device);
  IterationLoop(const IterationLoop&) = delete;
  IterationLoop& operator=(const IterationLoop&) = delete;

  /// For an update outside the loop that leaves its sums in the same place.
  [[nodiscard]] IterationEnd end_outside() {
    return {.sums = sums_,
            .done = memory_.done.data(),
            .control = nullptr,
            .condition = {},
            .in_graph = false};
  }

  [[nodiscard]] bool on_device() const { return static_cast<bool>(executable_); }

  /// Iterates until sums->change <= target or a look tells that another kernel pays, but at least
  /// once and at most `limit` (at most LoopControl::most_iterations) times. Returns the change of
  /// each iteration; the stream is idle then.
  [[nodiscard]] std::vector<double> run(double target, unsigned limit, const KernelLooks& looks,
                                        const Stream& stream);

 private:
  [[nodiscard]] IterationEnd end_inside();

  Queue queue_;
  NodeSums* sums_;
  LoopMemory& memory_;
  CudaGraph graph_;           ///< Owns the condition: lives as long as what was made of it.
  CudaGraphExec executable_;  ///< Null: plain loop.
};

}  // namespace pagerank::gpu
