#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <string>

#include "core/convergence.hpp"
#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/early_changes.cuh"
#include "gpu/iteration_loop.cuh"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/rank_update.cuh"
#include "gpu/renumber.cuh"
#include "gpu/residual.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

/// An array whose pages the system has given, huge ones if it can, by all threads: a copy that
/// meets them one by one takes several times longer.
Array<double> touched_array(std::size_t size) {
  Array<double> array(size);
  advise_huge_pages(std::span(array));
  constexpr std::size_t page = 4096 / sizeof(double), piece = 256 * page;
  parallel_for((size + piece - 1) / piece, thread_count(0), [&](std::size_t index) {
    const std::size_t end = std::min(size, (index + 1) * piece);
    for (std::size_t i = index * piece; i < end; i += page) array[i] = 0;
  });
  return array;
}

/// What floats resolve of an L1 norm of 1: some times what rounding leaves of a change, also where
/// a hub and its leaves lock into a cycle of two roundings.
constexpr double float_resolution = 0x1p-18;

/// The graph on the device, the prepared kernel and the vectors of a solve.
///
/// Mixed precision is iterative refinement: x is kept in double; float iterations find x until
/// their change is what floats resolve, and from then on corrections of x. A correction s solves
/// s = alpha B s + (alpha * dangling mass of s) / n + r with r = G(x) - x evaluated in double,
/// which is the iteration itself with r in place of the teleport term; r shrinks, and with it what
/// a float leaves of s.
template <class T>
class PreparedGraph {
 public:
  /// `make_graph(ring)` is the graph, whose links may still be on their way, and
  /// `make_spmv(graph, stream)` the kernel for it.
  template <class MakeGraph, class MakeSpmv>
  PreparedGraph(const MakeGraph& make_graph, const MakeSpmv& make_spmv,
                const EngineOptions& options)
      : mixed_(options.precision == Precision::mixed),
        ring_(options.threads),
        graph_(make_graph(ring_)),
        spmv_(make_spmv(graph_, stream_)),
        memory_(stream_, vector_bytes(graph_.node_count(), mixed_), graph_.most_held()),
        residual_(graph_.exact_in_links(), graph_.inverse_out_weight(), memory_),
        out_weight_(graph_.node_count(), memory_),
        x_(graph_.node_count(), memory_),
        y_(graph_.node_count(), memory_),
        z_(graph_.node_count(), memory_),
        source_(mixed_ ? graph_.node_count() : 0, memory_),
        sums_(2, memory_),
        block_sums_(update_blocks(graph_.node_count()), memory_),
        scalars_(scalar_sets, memory_),
        base_(1, memory_),
        loop_(queue_with(ranks, nullptr), sums_.data(), options.device_loop) {
    out_weights(graph_.inverse_out_weight(), spmv_->order(), graph_.node_count(),
                out_weight_.data(), stream_);
    if (mixed_) {
      correction_loop_.emplace(queue_with(correction, source_.data()), sums_.data(),
                               options.device_loop);
    }
  }

  template <class Matrix>
  [[nodiscard]] static std::size_t bytes(const Matrix& matrix, const SpmvKernel& kernel,
                                         bool mixed) {
    return DeviceGraph<T>::bytes(matrix) + kernel.extra_bytes(matrix, sizeof(T)) +
           Residual::other_bytes(matrix) + vector_bytes(matrix.node_count(), mixed);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return spmv_->bytes_to_multiply() +
           RankState<T>::bytes_to_update(graph_.node_count(), spmv_->isolated_nodes());
  }

  [[nodiscard]] bool loops_on_device() const { return loop_.on_device(); }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    Running running(*this, problem.alpha);
    return iterate_to_tolerance(running, problem, options);
  }

 private:
  /// Of all that is in memory_, array by array.
  [[nodiscard]] static std::size_t vector_bytes(std::uint64_t nodes, bool mixed) {
    const auto bytes = [](std::size_t size) { return ScratchMemory::rounded(size); };
    return Residual::vector_bytes(nodes) + bytes(nodes * sizeof(double)) +
           (mixed ? 4 : 3) * bytes(nodes * sizeof(T)) + bytes(2 * sizeof(NodeSums)) +
           bytes(update_blocks(nodes) * sizeof(NodeSums)) +
           bytes(scalar_sets * sizeof(RankScalars)) + bytes(sizeof(double));
  }

  /// The places in scalars_, each for one kind of update.
  enum ScalarSet { ranks, first_ranks, correction, first_correction, scalar_sets };

  class Running final : public Iteration {
   public:
    Running(PreparedGraph& prepared, double alpha) : prepared_(prepared), alpha_(alpha) {
      std::array<RankScalars, scalar_sets> scalars{};
      scalars[ranks] = {.alpha = alpha, .teleport = 1 - alpha};
      scalars[first_ranks] = {.alpha = 0, .teleport = 1};
      scalars[correction] = {.alpha = alpha, .teleport = 0};
      prepared.scalars_.upload(scalars);
      start(first_ranks, nullptr);  // x is uniform
      // Beside the iterations, in which the host has nothing to do.
      constexpr std::size_t worth_a_thread = 1 << 18;
      const auto when =
          prepared.x_.size() < worth_a_thread ? std::launch::deferred : std::launch::async;
      scores_ = std::async(when, touched_array, prepared.x_.size());
    }

    std::vector<double> advance(double target, std::uint32_t limit) override {
      if (!prepared_.mixed_) {
        x_is_current_ = false;
        return prepared_.loop_.run(target, limit, prepared_.stream_);
      }
      if (x_is_current_) begin_correction();
      x_is_current_ = false;
      IterationLoop& loop = correcting_ ? *prepared_.correction_loop_ : prepared_.loop_;
      const double aim = std::max(target, resolution_);
      std::vector<double> changes = loop.run(aim, std::min(limit, mixed_batch), prepared_.stream_);
      // If what is left is below what floats tell of x, the next iteration is of a correction.
      const double change = changes.back();
      if (change > target && (change <= aim || stalled(changes))) residual();
      return changes;
    }

    [[nodiscard]] std::uint32_t between_residuals() const override {
      return prepared_.mixed_ ? mixed_batch : 1;
    }

    double residual() override {
      bring_x();
      NodeSums* const result = prepared_.sums_.data() + 1;
      if (std::is_same_v<T, float>) {
        normalise(prepared_.x_.data(), prepared_.x_.size(), prepared_.block_sums_.data(), result,
                  prepared_.stream_);
      }
      prepared_.residual_.evaluate(prepared_.x_.data(), alpha_, result, prepared_.stream_);
      NodeSums& fetched = prepared_.fetched_[0];
      PAGERANK_CUDA(cudaMemcpyAsync(&fetched, result, sizeof(NodeSums), cudaMemcpyDeviceToHost,
                                    prepared_.stream_));
      prepared_.stream_.wait();
      residual_ = fetched.change;
      return residual_;
    }

    Array<double> scores() override {
      bring_x();
      Array<double> scores = scores_.get();
      prepared_.stream_.wait();
      prepared_.ring_.fetch(prepared_.x_.data(), std::span(scores.data(), scores.size()));
      return scores;
    }

   private:
    /// Iterations before the host looks whether rounding keeps the change from shrinking.
    static constexpr std::uint32_t mixed_batch = 8;
    [[nodiscard]] static bool stalled(const std::vector<double>& changes) {
      const auto middle = changes.begin() + mixed_batch / 2;
      return changes.size() == mixed_batch &&
             *std::min_element(middle, changes.end()) >= *std::min_element(changes.begin(), middle);
    }

    /// The first update: from y = z = 0, without dangling mass. (y of isolated nodes stays 0.)
    void start(ScalarSet scalars, const T* source) {
      prepared_.sums_.set_to_zero(prepared_.stream_);  // first: the update reads these two at once
      prepared_.z_.set_to_zero(prepared_.stream_);
      prepared_.y_.set_to_zero(prepared_.stream_);
      update_ranks(prepared_.state(scalars, source), prepared_.loop_.end_outside(),
                   prepared_.stream_);
    }

    /// x_ = the current ranks in node order; of a correction: x_ += it, once.
    void bring_x() {
      if (x_is_current_) return;
      const RankState<T> state = correcting_ ? prepared_.state(correction, prepared_.source_.data())
                                             : prepared_.state(ranks, nullptr);
      write_ranks(state, prepared_.spmv_->order(), correcting_, prepared_.x_.data(),
                  prepared_.stream_);
      x_is_current_ = true;
    }

    /// Of x_, whose residual has been evaluated: the correction's first approximation is that.
    void begin_correction() {
      correcting_ = true;
      resolution_ = float_resolution * residual_ / (1 - alpha_);
      to_kernel_order(prepared_.spmv_->order(), prepared_.x_.size(), prepared_.residual_.vector(),
                      prepared_.source_.data(), prepared_.stream_);
      start(first_correction, prepared_.source_.data());
    }

    PreparedGraph& prepared_;
    double alpha_;
    bool correcting_ = false;
    bool x_is_current_ = false;
    double resolution_ = float_resolution;  ///< The change that floats still tell.
    double residual_ = 0;
    std::future<Array<double>> scores_;
  };

  [[nodiscard]] IterationLoop::Queue queue_with(ScalarSet scalars, const T* source) {
    return [this, scalars, source](cudaStream_t stream, const IterationEnd& end) {
      spmv_->multiply(z_.data(), y_.data(), stream);
      update_ranks(state(scalars, source), end, stream);
    };
  }

  [[nodiscard]] RankState<T> state(ScalarSet scalars, const T* source) {
    return {.nodes = graph_.node_count(),
            .isolated = spmv_->isolated_nodes(),
            .z = z_.data(),
            .y = y_.data(),
            .out_weight = out_weight_.data(),
            .source = source,
            .scalars = scalars_.data() + scalars,
            .base = base_.data(),
            .sums = sums_.data(),
            .block_sums = block_sums_.data()};
  }

  bool mixed_;
  Stream stream_;
  TransferRing ring_;
  DeviceGraph<T> graph_;
  std::unique_ptr<Spmv<T>> spmv_;
  ScratchMemory memory_;  ///< Of the vectors, in one piece.
  Residual residual_;
  DeviceBuffer<T> out_weight_;  ///< In the kernel's order, as y_, z_ and source_.
  DeviceBuffer<double> x_;      ///< In node order; where scores are written.
  DeviceBuffer<T> y_, z_;
  DeviceBuffer<T> source_;       ///< Mixed: what a correction is of.
  DeviceBuffer<NodeSums> sums_;  ///< Of the iteration, of the residual.
  DeviceBuffer<NodeSums> block_sums_;
  DeviceBuffer<RankScalars> scalars_;
  DeviceBuffer<double> base_;
  PinnedArray<NodeSums> fetched_{1};
  IterationLoop loop_;
  std::optional<IterationLoop> correction_loop_;
};

/// Where the choice is doubtful: looks at the first changes when the links are there, and throws
/// KernelRefused if they tell of too few iterations for the kernel of many. If they are likely to
/// tell of enough, not before what that kernel prepares while links arrive has been: it is refused
/// as soon as it asks for them, while this lives.
template <class T>
class FirstLook {
 public:
  FirstLook(DeviceGraph<T>& graph, const KernelChoice& choice, const ExpectedWork& work,
            cudaStream_t stream)
      : graph_(graph) {
    if (!choice.doubtful()) return;
    changes_.emplace(graph, stream);
    const auto look = [this, choice, work](const CsrView<T>& links, EdgeIndex begin,
                                           EdgeIndex end) {
      changes_->see(links, begin, end);
      if (end < links.links) return;
      const bool more =
          changes_->promise_more_than(choice.blocked_beyond, links, work.alpha, work.tolerance);
      changes_.reset();
      if (!more) throw KernelRefused("few iterations are expected");
    };
    if (choice.blocked_is_likely) {
      graph.let_look(look);
    } else {
      graph.as_links_arrive(look);
    }
  }
  FirstLook(const FirstLook&) = delete;
  FirstLook& operator=(const FirstLook&) = delete;
  ~FirstLook() { graph_.let_look({}); }

 private:
  DeviceGraph<T>& graph_;
  std::optional<EarlyChanges<T>> changes_;
};

}  // namespace

class Engine::Impl {
 public:
  Impl(const TransitionMatrix& matrix, const EngineOptions& options) : device_(options.device) {
    enter(matrix.node_count(), options);
    dangling_count_ = matrix.dangling.size();
    if (dangling_count_ > 0) first_dangling_ = matrix.dangling.front();
    prepare(matrix, options);
  }

  Impl(std::shared_ptr<const DeviceTransitionMatrix> matrix, const EngineOptions& options)
      : device_(options.device) {
    enter(matrix->node_count(), options);
    dangling_count_ = matrix->dangling;
    first_dangling_ = matrix->first_dangling;
    prepare(matrix, options);
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
  [[nodiscard]] std::string_view kernel() const { return kernel_->name; }

 private:
  static constexpr std::string_view automatic_kernel = "auto";
  /// Takes every graph and hardly more memory than that.
  static constexpr std::string_view modest_kernel = "balanced";

  void enter(std::uint64_t nodes, const EngineOptions& options) {
    if (nodes == 0) throw std::invalid_argument("the graph has no nodes");
    automatic_ = options.kernel.empty() || options.kernel == automatic_kernel;
    kernel_ = &find_spmv_kernel(automatic_ ? modest_kernel : options.kernel);
    name_ = enter_device(device_);
  }

  void prepare(const TransitionMatrix& matrix, const EngineOptions& options) {
    if (options.precision == Precision::float64) {
      prepare_as(double_, matrix, 0, options, [&](TransferRing& ring, std::size_t most_held) {
        return DeviceGraph<double>(matrix, ring, options.upload_stretch, most_held);
      });
    } else {
      prepare_as(single_, matrix, 0, options, [&](TransferRing& ring, std::size_t most_held) {
        return DeviceGraph<float>(matrix, ring, options.upload_stretch, most_held);
      });
    }
  }
  void prepare(const std::shared_ptr<const DeviceTransitionMatrix>& matrix,
               const EngineOptions& options) {
    if (options.precision == Precision::float64) {
      prepare_as(double_, *matrix, matrix->bytes(), options,
                 [&](TransferRing&, std::size_t most_held) {
                   return DeviceGraph<double>(matrix, most_held);
                 });
    } else {
      prepare_as(single_, *matrix, matrix->bytes(), options,
                 [&](TransferRing&, std::size_t most_held) {
                   return DeviceGraph<float>(matrix, most_held);
                 });
    }
  }

  /// Where nobody asked for a kernel it is chosen while the links are on their way, and the modest
  /// one taken if the graph is not for the other or memory too short. The matrix itself may hold so
  /// many bytes of the device already.
  template <class T, class Matrix, class MakeGraph>
  void prepare_as(std::unique_ptr<PreparedGraph<T>>& prepared, const Matrix& matrix,
                  std::size_t held, const EngineOptions& options, const MakeGraph& make_graph) {
    const DeviceMemory memory{name_, options.memory_limit};
    const std::size_t most = memory.available(held), most_held = memory.most_held(held);
    const auto bytes_with = [&](const SpmvKernel& kernel) {
      return held + PreparedGraph<T>::bytes(matrix, kernel, options.precision == Precision::mixed);
    };
    const auto make_spmv = [&](DeviceGraph<T>& graph, cudaStream_t stream) {
      if (automatic_) {
        const KernelChoice choice =
            choose_kernel(graph.sampler(), options.precision, options.expected, memory_bandwidth());
        const SpmvKernel& chosen = find_spmv_kernel(choice.doubtful() ? "blocked" : choice.kernel);
        try {
          memory.require(bytes_with(chosen), held + DeviceGraph<T>::bytes(matrix));
          const FirstLook<T> look(graph, choice, options.expected, stream);
          std::unique_ptr<Spmv<T>> spmv = chosen.make<T>(graph, stream);
          kernel_ = &chosen;
          return spmv;
        } catch (const KernelRefused&) {
        } catch (const OutOfMemory&) {
        }
      }
      return kernel_->make<T>(graph, stream);
    };
    const auto prepare_graph = [&] {
      prepared = std::make_unique<PreparedGraph<T>>(
          [&](TransferRing& ring) { return make_graph(ring, most_held); }, make_spmv, options);
    };
    memory.require(bytes_with(*kernel_), held);
    try {
      try {
        prepare_graph();
      } catch (const OutOfMemory&) {
        // The chosen kernel may have left too little for the vectors.
        if (!automatic_ || kernel_->name == modest_kernel) throw;
        automatic_ = false;
        kernel_ = &find_spmv_kernel(modest_kernel);
        prepare_graph();
      }
    } catch (const OutOfMemory& error) {
      // It speaks of an array, beside what had been taken.
      if (error.needed() == 0) throw;
      const std::size_t taken = most - std::min<std::size_t>(most, error.available());
      throw OutOfMemory(name_, error.needed() + taken, most);
    }
  }

  bool automatic_ = false;  ///< Nobody asked for the kernel.
  const SpmvKernel* kernel_ = nullptr;
  int device_;
  std::string name_;
  NodeId first_dangling_ = 0;
  std::size_t dangling_count_ = 0;
  std::unique_ptr<PreparedGraph<float>> single_;
  std::unique_ptr<PreparedGraph<double>> double_;
};

Engine::Engine(const TransitionMatrix& matrix, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(matrix, options)) {}
Engine::Engine(DeviceMatrix matrix, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(
          std::shared_ptr<const DeviceTransitionMatrix>(matrix.take_arrays()), options)) {}
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
