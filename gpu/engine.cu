#include <algorithm>
#include <array>
#include <string>

#include "core/convergence.hpp"
#include "core/parallel.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/iteration_loop.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/rank_update.cuh"
#include "gpu/residual.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

/// Has every page of fresh memory given by the system, by all threads: a copy that meets them one
/// by one takes several times longer.
void touch(Array<double>& array) {
  constexpr std::size_t page = 4096 / sizeof(double), piece = 256 * page;
  parallel_for((array.size() + piece - 1) / piece, thread_count(0), [&](std::size_t index) {
    const std::size_t end = std::min(array.size(), (index + 1) * piece);
    for (std::size_t i = index * piece; i < end; i += page) array[i] = 0;
  });
}

/// The graph on the device, the prepared kernel and the vectors of a solve.
template <class T>
class PreparedGraph {
 public:
  PreparedGraph(const TransitionMatrix& matrix, const SpmvKernel& kernel,
                const EngineOptions& options)
      : graph_(uploaded(matrix, options.threads)),
        spmv_(kernel.make<T>(graph_, stream_)),
        out_weight_(matrix.node_count()),
        x_(matrix.node_count()),
        y_(matrix.node_count()),
        z_(matrix.node_count()),
        sums_(2),
        block_sums_(most_sum_blocks),
        scalars_(3),
        loop_([this](cudaStream_t stream) { queue_iteration(stream); }, block_sums_.data(),
              update_blocks(matrix.node_count()), sums_.data(), options.device_loop) {
    out_weights(graph_.inverse_out_weight(), spmv_->order(), graph_.node_count(),
                out_weight_.data(), stream_);
  }

  [[nodiscard]] static std::size_t bytes(const TransitionMatrix& matrix, const SpmvKernel& kernel) {
    return DeviceGraph<T>::bytes(matrix) + kernel.extra_bytes(matrix, sizeof(T)) +
           matrix.node_count() * (sizeof(double) + 3 * sizeof(T)) +
           (2 + most_sum_blocks) * sizeof(NodeSums);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return spmv_->bytes_to_multiply() + RankState<T>::bytes_to_update(graph_.node_count());
  }

  [[nodiscard]] bool loops_on_device() const { return loop_.on_device(); }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    Running running(*this, problem.alpha);
    return iterate_to_tolerance(running, problem, options);
  }

 private:
  class Running final : public Iteration {
   public:
    Running(PreparedGraph& prepared, double alpha) : prepared_(prepared), alpha_(alpha) {
      // From y = z = 0, one update with alpha = 0 makes x uniform, and z and the dangling mass
      // belong to it.
      prepared.scalars_.upload(std::array{alpha, 0.0, 0.0});
      prepared.y_.set_to_zero(prepared.stream_);
      prepared.z_.set_to_zero(prepared.stream_);
      prepared.sums_.set_to_zero(prepared.stream_);
      update_ranks(prepared.state(prepared.scalars_.data() + 1), prepared.stream_);
      add_block_sums(prepared.block_sums_.data(), update_blocks(prepared.graph_.node_count()),
                     prepared.sums_.data(), prepared.stream_);
    }

    std::vector<double> advance(double target, std::uint32_t limit) override {
      return prepared_.loop_.run(target, limit, prepared_.stream_);
    }

    double residual() override {
      prepared_.write_scores();
      NodeSums* const result = prepared_.sums_.data() + 1;
      residual_l1({prepared_.graph_.exact_in_links(), prepared_.graph_.inverse_out_weight(),
                   prepared_.x_.data(), prepared_.sums_.data()},
                  alpha_, prepared_.block_sums_.data(), result, prepared_.stream_);
      NodeSums& fetched = prepared_.fetched_[0];
      PAGERANK_CUDA(cudaMemcpyAsync(&fetched, result, sizeof(NodeSums), cudaMemcpyDeviceToHost,
                                    prepared_.stream_));
      prepared_.stream_.wait();
      return fetched.change;
    }

    Array<double> scores() override {
      prepared_.write_scores();
      Array<double> scores(prepared_.x_.size());
      touch(scores);  // beside the writing on the device
      prepared_.stream_.wait();
      PAGERANK_CUDA(cudaMemcpy(scores.data(), prepared_.x_.data(), scores.size() * sizeof(double),
                               cudaMemcpyDeviceToHost));
      return scores;
    }

   private:
    PreparedGraph& prepared_;
    double alpha_;
  };

  [[nodiscard]] static DeviceGraph<T> uploaded(const TransitionMatrix& matrix, int threads) {
    UploadRing ring(threads);  // freed before anything else is allocated
    return {matrix, ring};
  }

  /// The ranks in node order to x_.
  void write_scores() { write_ranks(state(scalars_.data()), spmv_->order(), x_.data(), stream_); }

  void queue_iteration(cudaStream_t stream) {
    spmv_->multiply(z_.data(), y_.data(), stream);
    update_ranks(state(scalars_.data()), stream);
  }

  [[nodiscard]] RankState<T> state(const double* alpha) {
    return {.nodes = graph_.node_count(),
            .z = z_.data(),
            .y = y_.data(),
            .out_weight = out_weight_.data(),
            .alpha = alpha,
            .base = scalars_.data() + 2,
            .sums = sums_.data(),
            .block_sums = block_sums_.data()};
  }

  Stream stream_;
  DeviceGraph<T> graph_;
  std::unique_ptr<Spmv<T>> spmv_;
  DeviceBuffer<T> out_weight_;  ///< In the kernel's order, as y_ and z_.
  DeviceBuffer<double> x_;      ///< In node order; where scores are written.
  DeviceBuffer<T> y_, z_;
  DeviceBuffer<NodeSums> sums_;  ///< Of the iteration, of the residual.
  DeviceBuffer<NodeSums> block_sums_;
  DeviceBuffer<double> scalars_;  ///< alpha of the iteration, of its start (0), base.
  PinnedArray<NodeSums> fetched_{1};
  IterationLoop loop_;
};

}  // namespace

class Engine::Impl {
 public:
  Impl(const TransitionMatrix& matrix, const EngineOptions& options)
      : kernel_(find_spmv_kernel(options.kernel)), device_(options.device) {
    if (matrix.node_count() == 0) throw std::invalid_argument("the graph has no nodes");
    name_ = enter_device(device_);
    if (!matrix.dangling.empty()) {
      first_dangling_ = matrix.dangling.front();
      dangling_count_ = matrix.dangling.size();
    }
    if (options.precision == Precision::float32) {
      prepare(single_, matrix, options);
    } else {
      prepare(double_, matrix, options);
    }
  }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    if (problem.dangling == DanglingPolicy::error && dangling_count_ > 0) {
      throw DanglingNodesError(first_dangling_, dangling_count_);
    }
    PAGERANK_CUDA(cudaSetDevice(device_));
    return single_ ? single_->solve(problem, options) : double_->solve(problem, options);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return single_ ? single_->bytes_per_iteration() : double_->bytes_per_iteration();
  }
  [[nodiscard]] bool loops_on_device() const {
    return single_ ? single_->loops_on_device() : double_->loops_on_device();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view kernel() const { return kernel_.name; }

 private:
  template <class T>
  void prepare(std::unique_ptr<PreparedGraph<T>>& prepared, const TransitionMatrix& matrix,
               const EngineOptions& options) {
    require_device_memory(name_, PreparedGraph<T>::bytes(matrix, kernel_), options.memory_limit);
    prepared = std::make_unique<PreparedGraph<T>>(matrix, kernel_, options);
  }

  const SpmvKernel& kernel_;
  int device_;
  std::string name_;
  NodeId first_dangling_ = 0;
  std::size_t dangling_count_ = 0;
  std::unique_ptr<PreparedGraph<float>> single_;
  std::unique_ptr<PreparedGraph<double>> double_;
};

Engine::Engine(const TransitionMatrix& matrix, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(matrix, options)) {}
Engine::~Engine() = default;
Solution Engine::solve(const Problem& problem, const SolveOptions& options) {
  return impl_->solve(problem, options);
}
std::string Engine::device() const {
  return impl_->name();
}
std::uint64_t Engine::bytes_per_iteration() const {
  return impl_->bytes_per_iteration();
}
std::string_view Engine::kernel() const {
  return impl_->kernel();
}
bool Engine::loops_on_device() const {
  return impl_->loops_on_device();
}

}  // namespace pagerank::gpu
