#include "gpu/iteration_loop.cuh"

#include <algorithm>
#include <cstdlib>

namespace pagerank::gpu {
namespace {

/// The last kernel of an iteration, one block: adds up its sums, notes its change and decides
/// whether there is another.
template <bool in_graph>
__global__ void end_iteration(const NodeSums* block_sums, unsigned blocks, NodeSums* sums,
                              LoopControl* control, cudaGraphConditionalHandle condition) {
  const NodeSums sum = sum_of_blocks(block_sums, blocks);
  if (threadIdx.x > 0) return;
  *sums = sum;
  const double change = sum.change;
  control->changes[control->iterations] = change;
  ++control->iterations;
  if constexpr (in_graph) {
    const bool go_on = change > control->target && control->iterations < control->limit;
    cudaGraphSetConditional(condition, go_on ? 1 : 0);
  }
}

cudaError_t add_while_node(cudaGraph_t graph, cudaGraphNodeParams& params) {
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
#else
  return cudaGraphAddNode(&node, graph, nullptr, 0, &params);
#endif
}

/// A graph that is one WHILE node around what `queue` and end_iteration() do.
CudaGraph record_while_graph(const std::function<void(cudaStream_t)>& queue,
                             const NodeSums* block_sums, unsigned blocks, NodeSums* sums,
                             LoopControl* control) {
  cudaGraph_t created = nullptr;
  PAGERANK_CUDA(cudaGraphCreate(&created, 0));
  CudaGraph graph(created);
  cudaGraphConditionalHandle condition{};
  PAGERANK_CUDA(
      cudaGraphConditionalHandleCreate(&condition, graph.get(), 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = condition;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  PAGERANK_CUDA(add_while_node(graph.get(), params));
  cudaGraph_t body = params.conditional.phGraph_out[0];

  const Stream stream;
  PAGERANK_CUDA(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                              cudaStreamCaptureModeRelaxed));
  queue(stream);
  end_iteration<true>
      <<<1, sum_block_size, 0, stream>>>(block_sums, blocks, sums, control, condition);
  PAGERANK_CUDA_LAUNCHED(end_iteration);
  PAGERANK_CUDA(cudaStreamEndCapture(stream, &body));

  return graph;
}

/// The driver must know WHILE nodes, and compute-sanitizer must not be watching: it reports
/// the barriers of any kernel in such a node, and racecheck crashes (docs/development.md has the
/// evidence). It shows in the environment that it gives to the program.
bool can_loop_on_device() {
  int driver = 0;
  PAGERANK_CUDA(cudaDriverGetVersion(&driver));
  return driver >= 12040 && std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") == nullptr;
}

}  // namespace

IterationLoop::IterationLoop(std::function<void(cudaStream_t)> queue, const NodeSums* block_sums,
                             unsigned blocks, NodeSums* sums, bool on_device)
    : queue_(std::move(queue)), block_sums_(block_sums), blocks_(blocks), sums_(sums), control_(1) {
  if (!on_device || !can_loop_on_device()) return;
  graph_ = record_while_graph(queue_, block_sums_, blocks_, sums_, control_.data());
  cudaGraphExec_t executable = nullptr;
  if (cudaGraphInstantiate(&executable, graph_.get(), 0) != cudaSuccess) {
    cudaGetLastError();  // something in the iteration may not stand in a WHILE node
    return;
  }
  executable_.reset(executable);
}

std::vector<double> IterationLoop::run(double target, unsigned limit, const Stream& stream) {
  LoopControl& control = host_control_[0];
  control.target = target;
  control.limit = std::min(limit, LoopControl::most_iterations);
  control.iterations = 0;
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    PAGERANK_CUDA(cudaMemcpyAsync(to, from, sizeof(LoopControl), kind, stream));
  };
  const unsigned most = control.limit;
  copy(control_.data(), host_control_.data(), cudaMemcpyHostToDevice);
  if (executable_) {
    PAGERANK_CUDA(cudaGraphLaunch(executable_.get(), stream));
    copy(host_control_.data(), control_.data(), cudaMemcpyDeviceToHost);
    stream.wait();
  } else {
    for (bool go_on = true; go_on;) {
      queue_(stream);
      end_iteration<false><<<1, sum_block_size, 0, stream>>>(
          block_sums_, blocks_, sums_, control_.data(), cudaGraphConditionalHandle{});
      PAGERANK_CUDA_LAUNCHED(end_iteration);
      copy(host_control_.data(), control_.data(), cudaMemcpyDeviceToHost);
      stream.wait();
      go_on = control.iterations < most && control.changes[control.iterations - 1] > target;
    }
  }
  return {control.changes, control.changes + control.iterations};
}

}  // namespace pagerank::gpu
