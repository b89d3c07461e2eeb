#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/convergence.hpp"
#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/iteration_loop.cuh"
#include "gpu/kernel_choice.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/rank_update.cuh"
#include "gpu/renumber.cuh"
#include "gpu/residual.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {

/// A kernel that may take another's place in the middle of a solve.
template <class T>
struct LaterKernel {
  double payback = 0;        ///< Worth it from so many iterations still to come, of all solves.
  std::uint32_t beside = 0;  ///< So many go by while it is prepared.
  std::uint32_t solves = 1;  ///< That are expected from now on.
  /// Null: there is none. Returns null if it cannot be had. Called by another thread.
  std::function<std::unique_ptr<Spmv<T>>(const DeviceGraph<T>& graph, cudaStream_t stream)> make;
  std::function<void()> taken;  ///< Called when it iterates.
};

/// An array whose pages the system has given, huge ones if it can, by all threads: a copy that
/// meets them one by one takes several times longer.
inline Array<double> touched_array(std::size_t size) {
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
inline constexpr double float_resolution = 0x1p-18;

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
  /// `make_spmv(graph, stream, later)` the kernel for it, and, if it says so, a later one.
  template <class MakeGraph, class MakeSpmv>
  PreparedGraph(const MakeGraph& make_graph, const MakeSpmv& make_spmv,
                const EngineOptions& options)
      : mixed_(options.precision == Precision::mixed),
        device_loop_(options.device_loop),
        ring_(options.threads),
        graph_(make_graph(ring_)),
        now_(std::make_unique<Iterating>(make_spmv(graph_, stream_, later_))),
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
        base_(1, memory_) {
    if (later_.make) graph_.outlive_host();
    begin_with_kernel();
    make_loop(*now_);
  }

  template <class Matrix>
  [[nodiscard]] static std::size_t bytes(const Matrix& matrix, const SpmvKernel& kernel,
                                         bool mixed) {
    return DeviceGraph<T>::bytes(matrix) + kernel.extra_bytes(matrix, sizeof(T)) +
           Residual::other_bytes(matrix) + LoopMemory::bytes +
           vector_bytes(matrix.node_count(), mixed);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return now_->spmv->bytes_to_multiply() +
           RankState<T>::bytes_to_update(graph_.node_count(), now_->spmv->isolated_nodes());
  }

  [[nodiscard]] bool loops_on_device() const { return now_->loop->on_device(); }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    if (coming_.valid()) take_kernel();  // the last solve was stopped before
    Running running(*this, problem.alpha);
    Solution solution = iterate_to_tolerance(running, problem, options);
    later_.solves = std::max(later_.solves, 2U) - 1;
    return solution;
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
      if (to_correct_) {
        if (prepared_.coming_.valid()) change_kernel();
        begin_correction();
      }
      x_is_current_ = false;
      const double aim = prepared_.mixed_ ? std::max(target, resolution_) : target;
      std::vector<double> changes =
          loop().run(aim, std::min(limit, iterations_at_once()), prepared_.stream_);
      iterations_ += static_cast<std::uint32_t>(changes.size());
      // If what is left is below what floats tell of x, the next iteration is of a correction.
      const double change = changes.back();
      if (prepared_.mixed_ && change > target && (change <= aim || stalled(changes))) {
        residual();
      } else if (prepared_.coming_.valid()) {
        if (iterations_ >= change_at_) change_kernel();
      } else if (may_change_kernel() && changes.size() > 1) {
        const double left =
            std::min(iterations_left(*(changes.end() - 2), change, target, alpha_),
                     static_cast<double>(limit) - static_cast<double>(changes.size()));
        const double of_others = prepared_.later_.solves - 1.0;
        if (left + of_others * (iterations_ + left) > prepared_.later_.payback) {
          prepared_.prepare_kernel();
          change_at_ = iterations_ + prepared_.later_.beside;
        }
      }
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
      to_correct_ = prepared_.mixed_;
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

    [[nodiscard]] bool may_change_kernel() const { return prepared_.later_.make && !correcting_; }
    [[nodiscard]] std::uint32_t iterations_at_once() const {
      const std::uint32_t most = prepared_.mixed_ ? mixed_batch : LoopControl::most_iterations;
      if (prepared_.coming_.valid())
        return std::min(most, std::max(change_at_, iterations_ + 1) - iterations_);
      if (!may_change_kernel()) return most;
      return std::min(most, iterations_to_next_look(iterations_));
    }
    [[nodiscard]] IterationLoop& loop() {
      return correcting_ ? *prepared_.now_->correction_loop : *prepared_.now_->loop;
    }
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
      update_ranks(prepared_.state(scalars, source), prepared_.now_->loop->end_outside(),
                   prepared_.stream_);
    }

    /// x_ = the current ranks in node order; of a correction: x_ += it, once.
    void bring_x() {
      if (x_is_current_) return;
      const RankState<T> state = correcting_ ? prepared_.state(correction, prepared_.source_.data())
                                             : prepared_.state(ranks, nullptr);
      write_ranks(state, prepared_.order(), correcting_, prepared_.x_.data(), prepared_.stream_);
      x_is_current_ = true;
    }

    /// Goes on from the ranks of now.
    void change_kernel() {
      bring_x();
      if (!prepared_.take_kernel()) return;
      prepared_.y_.set_to_zero(prepared_.stream_);
      read_ranks(prepared_.state(ranks, nullptr), prepared_.order(), prepared_.x_.data(),
                 prepared_.stream_);
    }

    /// Of x_, whose residual has been evaluated: the correction's first approximation is that.
    void begin_correction() {
      correcting_ = true;
      to_correct_ = false;
      resolution_ = float_resolution * residual_ / (1 - alpha_);
      prepared_.make_correction_loop(*prepared_.now_);
      to_kernel_order(prepared_.order(), prepared_.x_.size(), prepared_.residual_.vector(),
                      prepared_.source_.data(), prepared_.stream_);
      start(first_correction, prepared_.source_.data());
    }

    PreparedGraph& prepared_;
    double alpha_;
    bool correcting_ = false;
    bool x_is_current_ = false;
    bool to_correct_ = false;  ///< Next.
    std::uint32_t iterations_ = 0;
    std::uint32_t change_at_ = 0;           ///< Iterations, with a kernel that is coming.
    double resolution_ = float_resolution;  ///< The change that floats still tell.
    double residual_ = 0;
    std::future<Array<double>> scores_;
  };

  /// A kernel, and the loops around it.
  struct Iterating {
    explicit Iterating(std::unique_ptr<Spmv<T>> kernel) : spmv(std::move(kernel)) {}
    std::unique_ptr<Spmv<T>> spmv;
    std::optional<IterationLoop> loop, correction_loop;
  };

  [[nodiscard]] const NodeId* order() const { return now_->spmv->order(); }
  void begin_with_kernel() {
    out_weights(graph_.inverse_out_weight(), order(), graph_.node_count(), out_weight_.data(),
                stream_);
  }

  /// Begins to prepare the later kernel: some of that is the host's, and the device iterates
  /// meanwhile. When it takes the other's place does not hang on when it is there, so that the same
  /// input gives the same bits.
  void prepare_kernel() {
    int device = 0;
    PAGERANK_CUDA(cudaGetDevice(&device));
    coming_ = std::async(std::launch::async, [this, device, make = std::exchange(later_.make, {})] {
      PAGERANK_CUDA(cudaSetDevice(device));
      auto coming =
          std::make_unique<Iterating>(make(graph_, preparing_.emplace(Stream::Priority::first)));
      if (!coming->spmv) return std::unique_ptr<Iterating>();
      make_loop(*coming);
      if (mixed_) make_correction_loop(*coming);
      return coming;
    });
  }
  /// Whether the later kernel could be had.
  bool take_kernel() {
    std::unique_ptr<Iterating> coming = coming_.get();
    if (!coming) return false;
    before_ = std::exchange(now_, std::move(coming));
    later_.taken();
    begin_with_kernel();
    return true;
  }

  void make_loop(Iterating& of) {
    of.loop.emplace(queue_with(*of.spmv, ranks, nullptr), sums_.data(), loop_memory_, device_loop_);
  }
  void make_correction_loop(Iterating& of) {
    if (of.correction_loop) return;
    of.correction_loop.emplace(queue_with(*of.spmv, correction, source_.data()), sums_.data(),
                               loop_memory_, device_loop_);
  }
  [[nodiscard]] IterationLoop::Queue queue_with(Spmv<T>& spmv, ScalarSet scalars, const T* source) {
    return [this, &spmv, scalars, source](cudaStream_t stream, const IterationEnd& end) {
      spmv.multiply(z_.data(), y_.data(), stream);
      update_ranks(state_of(spmv, scalars, source), end, stream);
    };
  }

  [[nodiscard]] RankState<T> state(ScalarSet scalars, const T* source) {
    return state_of(*now_->spmv, scalars, source);
  }
  [[nodiscard]] RankState<T> state_of(const Spmv<T>& spmv, ScalarSet scalars, const T* source) {
    return {.nodes = graph_.node_count(),
            .isolated = spmv.isolated_nodes(),
            .z = z_.data(),
            .y = y_.data(),
            .out_weight = out_weight_.data(),
            .source = source,
            .scalars = scalars_.data() + scalars,
            .base = base_.data(),
            .sums = sums_.data(),
            .block_sums = block_sums_.data()};
  }

  bool mixed_, device_loop_;
  Stream stream_;
  TransferRing ring_;
  DeviceGraph<T> graph_;
  LaterKernel<T> later_;
  std::optional<Stream> preparing_;          ///< The later kernel.
  std::unique_ptr<Iterating> now_, before_;  ///< Freeing waits for the device: not in a solve.
  ScratchMemory memory_;                     ///< Of the vectors, in one piece.
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
  LoopMemory loop_memory_;
  std::future<std::unique_ptr<Iterating>> coming_;  ///< Valid: the later kernel is being prepared.
};

}  // namespace pagerank::gpu
