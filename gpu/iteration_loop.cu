#include "gpu/iteration_loop.cuh"

#include <algorithm>
#include <cstdlib>

#include "gpu/process.hpp"

namespace pagerank::gpu {
namespace {

cudaError_t add_while_node(cudaGraph_t graph, cudaGraphNodeParams& params) {
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
#else
  return cudaGraphAddNode(&node, graph, nullptr, 0, &params);
#endif
}

/// A graph that is one WHILE node around what `queue` does; `end` has all but the condition.
CudaGraph record_while_graph(const IterationLoop::Queue& queue, IterationEnd end) {
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
  end.condition = condition;
  end.in_graph = true;
  try {
    queue(stream, end);
  } catch (...) {
    cudaStreamEndCapture(stream, &body);  // or the driver loses itself in a graph that is gone
    cudaGetLastError();                   // what it says is not what went wrong
    throw;
  }
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

IterationLoop::IterationLoop(Queue queue, NodeSums* sums, LoopMemory& memory, bool on_device)
    : queue_(std::move(queue)), sums_(sums), memory_(memory) {
  if (!on_device || !can_loop_on_device()) return;
  graph_ = record_while_graph(queue_, end_inside());
  cudaGraphExec_t executable = nullptr;
  if (fails_now(Failure::loop) ||
      cudaGraphInstantiate(&executable, graph_.get(), 0) != cudaSuccess) {
    cudaGetLastError();  // something in the iteration may not stand in a WHILE node
    return;
  }
  executable_.reset(executable);
}

IterationEnd IterationLoop::end_inside() {
  IterationEnd end = end_outside();
  end.control = memory_.control.data();
  return end;
}

std::vector<double> IterationLoop::run(double target, unsigned limit, const KernelLooks& looks,
                                       const Stream& stream) {
  LoopControl& control = memory_.fetched[0].control;
  control.target = target;
  control.limit = std::min(limit, LoopControl::most_iterations);
  control.iterations = 0;
  control.looks = looks;
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    PAGERANK_CUDA(cudaMemcpyAsync(to, from, sizeof(LoopControl), kind, stream));
  };
  copy(memory_.control.data(), &control, cudaMemcpyHostToDevice);
  if (executable_) {
    PAGERANK_CUDA(cudaGraphLaunch(executable_.get(), stream));
    copy(&control, memory_.control.data(), cudaMemcpyDeviceToHost);
    stream.wait();
  } else {
    do {
      queue_(stream, end_inside());
      copy(&control, memory_.control.data(), cudaMemcpyDeviceToHost);
      stream.wait();
    } while (control.go_on != 0);
  }
  return {control.changes, control.changes + control.iterations};
}

}  // namespace pagerank::gpu
