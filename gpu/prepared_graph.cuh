#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/convergence.hpp"
#include "core/mixed_precision.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/hold_point.hpp"
#include "gpu/iteration_loop.cuh"
#include "gpu/kernel_change.hpp"
#include "gpu/kernel_plan.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/renumber.cuh"
#include "gpu/solve_vectors.cuh"

namespace pagerank::gpu {

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
  /// `make_graph(ring, memory)` is the graph, whose links may still be on their way, and
  /// `plan(graph)` the KernelPlan for it. The graph, `balanced` and what solves need are known to
  /// take so many `bytes`; all may take what leaves held_device_bytes at `most_held`.
  template <class MakeGraph, class Plan>
  PreparedGraph(const MakeGraph& make_graph, const Plan& plan, std::size_t bytes,
                std::size_t most_held, const EngineOptions& options)
      : mixed_(options.precision == Precision::mixed),
        device_loop_(options.device_loop),
        ring_(options.threads),
        graph_(make_graph(ring_, memory_for(bytes, most_held, stream_))),
        loop_memory_(graph_.reserved(), stream_) {
    // While the links are on their way all is made that does not need them.
    KernelPlan<T> kernels = plan(graph_);
    later_ = std::move(kernels.later);
    // (If nothing is reserved the vectors come later, and would find less memory.)
    if (later_.make && later_.early && graph_.links_arrive() && graph_.reserved()) {
      begin_to_prepare(true);
    }
    if (graph_.reserved()) make_vectors();
    now_ = std::make_unique<Iterating>(kernels.make(graph_, stream_));
    if (!vectors_) make_vectors();
    begin_with_kernel();
    make_loop(*now_);
    graph_.wait();
  }
  /// Where a solve fails, a copy to the memory of the loop may be on its way.
  ~PreparedGraph() { cudaStreamSynchronize(stream_); }
  PreparedGraph(const PreparedGraph&) = delete;
  PreparedGraph& operator=(const PreparedGraph&) = delete;

  template <class Matrix>
  [[nodiscard]] static std::size_t bytes(const Matrix& matrix, const SpmvKernel& kernel,
                                         bool mixed) {
    return DeviceGraph<T>::bytes(matrix) + kernel.extra_bytes(matrix, sizeof(T)) +
           Residual::other_bytes(matrix) + LoopMemory::bytes +
           SolveVectors<T>::bytes(matrix.node_count(), mixed);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    return now_->spmv->bytes_to_multiply() +
           RankState<T>::bytes_to_update(graph_.node_count(), now_->spmv->isolated_nodes());
  }

  [[nodiscard]] bool loops_on_device() const { return now_->loop->on_device(); }

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) {
    if (kernel_is_coming()) take_kernel();  // the last solve was stopped before
    Running running(*this, problem.alpha);
    Solution solution = iterate_to_tolerance(running, problem, options);
    later_.solves = std::max(later_.solves, 2U) - 1;
    return solution;
  }

 private:
  class Running final : public Iteration {
   public:
    Running(PreparedGraph& prepared, double alpha)
        : prepared_(prepared),
          vectors_(*prepared.vectors_),
          alpha_(alpha),
          apart_(vectors_.x.size() >= worth_a_thread) {
      std::array<RankScalars, ScalarSets::count> scalars{};
      scalars[ScalarSets::ranks] = {.alpha = alpha, .teleport = 1 - alpha};
      scalars[ScalarSets::first_ranks] = {.alpha = 0, .teleport = 1};
      scalars[ScalarSets::correction] = {.alpha = alpha, .teleport = 0};
      vectors_.scalars.upload(scalars);
      start(ScalarSets::first_ranks, nullptr);  // x is uniform
      // Beside the iterations, in which the host has nothing to do.
      int device = 0;
      PAGERANK_CUDA(cudaGetDevice(&device));
      scores_ = std::async(apart_ ? std::launch::async : std::launch::deferred,
                           [&prepared, apart = apart_, device, &first = *prepared.now_] {
                             Array<double> scores(prepared.vectors_->x.size());
                             if (apart) {
                               PAGERANK_CUDA(cudaSetDevice(device));
                               prepared.make_correction_loop_ahead(first);
                               prepared.ring_.touch(scores);
                             }
                             return scores;
                           });
    }

    std::vector<double> advance(double target, std::uint32_t limit) override {
      if (to_correct_) {
        if (prepared_.kernel_is_coming()) change_kernel();
        begin_correction();
      }
      x_is_current_ = false;
      const double aim = prepared_.mixed_ ? floats_.aim(target) : target;
      const KernelLooks looks = may_change_kernel() ? looks_of_run(target, limit) : KernelLooks{};
      std::vector<double> changes =
          loop().run(aim, std::min(limit, iterations_at_once()), looks, prepared_.stream_);
      changes_.insert(changes_.end(), changes.begin(), changes.end());
      const double change = changes.back();
      if (prepared_.mixed_ && floats_.spent(changes, target)) {
        (void)evaluate_residual(false);
      } else if (prepared_.kernel_is_coming()) {
        if (iterations() >= change_at_) change_kernel();
      } else if (may_change_kernel()) {
        // Whatever ended the run: solves to come may pay though this one is at its end.
        while (next_look_ <= iterations()) next_look_ += iterations_to_next_look(next_look_);
        if (looks.pays(iterations_left(changes_, target, alpha_), iterations())) {
          prepared_.want_kernel();
          change_at_ = iterations() + prepared_.later_.beside;
        }
      }
      return changes;
    }

    [[nodiscard]] std::uint32_t between_residuals() const override {
      return prepared_.mixed_ ? FloatIterations::batch : 1;
    }

    [[nodiscard]] double residual_corrected() const override { return floats_.residual(); }

    double residual() override { return evaluate_residual(apart_); }

    Array<double> scores() override {
      bring_x();
      if (!x_is_fetched_) {
        prepared_.stream_.wait();
        fetch_x();
      }
      return std::move(fetched_);
    }

   private:
    [[nodiscard]] std::uint32_t iterations() const {
      return static_cast<std::uint32_t>(changes_.size());
    }
    [[nodiscard]] bool may_change_kernel() const {
      return prepared_.later_.make && !prepared_.preparation_wanted() && !floats_.of_correction();
    }
    [[nodiscard]] KernelLooks looks_of_run(double target, std::uint32_t limit) const {
      return {.payback = prepared_.later_.payback,
              .other_solves = prepared_.later_.solves - 1.0,
              .target = target,
              .alpha = alpha_,
              .last = changes_.empty() ? 0 : changes_.back(),
              .done = iterations(),
              .most = limit,
              .next = next_look_};
    }
    [[nodiscard]] std::uint32_t iterations_at_once() const {
      const std::uint32_t most =
          prepared_.mixed_ ? FloatIterations::batch : LoopControl::most_iterations;
      if (prepared_.kernel_is_coming())
        return std::min(most, std::max(change_at_, iterations() + 1) - iterations());
      return most;
    }
    [[nodiscard]] IterationLoop& loop() {
      return floats_.of_correction() ? *prepared_.now_->correction_loop : *prepared_.now_->loop;
    }

    /// The first update: from y = z = 0, without dangling mass. (y of isolated nodes stays 0.)
    void start(ScalarSets::Set scalars, const T* source) {
      vectors_.sums.set_to_zero(prepared_.stream_);  // first: the update reads these two at once
      vectors_.z.set_to_zero(prepared_.stream_);
      vectors_.y.set_to_zero(prepared_.stream_);
      update_ranks(prepared_.state(scalars, source), prepared_.now_->loop->end_outside(),
                   prepared_.stream_);
    }

    /// Mostly the solve ends with that, so that x may be fetched meanwhile.
    [[nodiscard]] double evaluate_residual(bool fetch) {
      bring_x();
      NodeSums* const result = vectors_.sums.data() + 1;
      if (std::is_same_v<T, float>) {
        normalise(vectors_.x.data(), vectors_.x.size(),
                  static_cast<double>(prepared_.graph_.more_unlinked()), vectors_.block_sums.data(),
                  result, prepared_.stream_);
        x_is_fetched_ = false;
      }
      x_is_there_.record(prepared_.stream_);
      vectors_.residual.evaluate(vectors_.x.data(), alpha_, result, prepared_.stream_);
      NodeSums& fetched = prepared_.loop_memory_.fetched[0].sums;
      PAGERANK_CUDA(cudaMemcpyAsync(&fetched, result, sizeof(NodeSums), cudaMemcpyDeviceToHost,
                                    prepared_.stream_));
      if (fetch) {
        x_is_there_.wait();
        fetch_x();
      }
      prepared_.stream_.wait();
      residual_ = fetched.change;
      to_correct_ = prepared_.mixed_;
      return residual_;
    }

    /// To the host, when it is there.
    void fetch_x() {
      if (scores_.valid()) fetched_ = scores_.get();
      prepared_.ring_.fetch(vectors_.x.data(), std::span(fetched_.data(), fetched_.size()));
      x_is_fetched_ = true;
    }

    /// x = the current ranks in node order; of a correction: x += it, once.
    void bring_x() {
      if (x_is_current_) return;
      x_is_fetched_ = false;
      const RankState<T> state =
          floats_.of_correction() ? prepared_.state(ScalarSets::correction, vectors_.source.data())
                                  : prepared_.state(ScalarSets::ranks, nullptr);
      write_ranks(state, prepared_.order(), floats_.of_correction(), vectors_.x.data(),
                  prepared_.stream_);
      x_is_current_ = true;
    }

    /// Goes on from the ranks of now.
    void change_kernel() {
      bring_x();
      if (!prepared_.take_kernel()) return;
      vectors_.y.set_to_zero(prepared_.stream_);
      read_ranks(prepared_.state(ScalarSets::ranks, nullptr), prepared_.order(), vectors_.x.data(),
                 prepared_.stream_);
    }

    /// Of x, whose residual has been evaluated: the correction's first approximation is that.
    void begin_correction() {
      floats_ = FloatIterations::of_correction(residual_, alpha_);
      to_correct_ = false;
      if (scores_.valid()) scores_.wait();  // it may be making the loop
      prepared_.make_correction_loop(*prepared_.now_);
      to_kernel_order(prepared_.order(), vectors_.x.size(), vectors_.residual.vector(),
                      vectors_.source.data(), prepared_.stream_);
      start(ScalarSets::first_correction, vectors_.source.data());
    }

    PreparedGraph& prepared_;
    SolveVectors<T>& vectors_;
    double alpha_;
    bool apart_;  ///< There are enough nodes for work beside the device's.
    static constexpr std::size_t worth_a_thread = 1 << 18;
    Event x_is_there_{cudaEventDisableTiming};
    bool x_is_current_ = false;
    bool x_is_fetched_ = false;
    bool to_correct_ = false;                               ///< Next.
    std::vector<double> changes_;                           ///< Of all iterations so far.
    std::uint32_t next_look_ = iterations_to_next_look(0);  ///< Of the device: iterations.
    std::uint32_t change_at_ = 0;  ///< Iterations, with a kernel that is coming.
    FloatIterations floats_;       ///< Mixed.
    double residual_ = 0;
    std::future<Array<double>> scores_;  ///< Memory for them, until something is fetched.
    Array<double> fetched_;
  };

  /// A kernel, and the loops around it.
  struct Iterating {
    explicit Iterating(std::unique_ptr<Spmv<T>> kernel) : spmv(std::move(kernel)) {}
    std::unique_ptr<Spmv<T>> spmv;
    std::optional<IterationLoop> loop, correction_loop;
  };

  [[nodiscard]] const NodeId* order() const { return now_->spmv->order(); }
  void begin_with_kernel() {
    out_weights(graph_.inverse_out_weight(), order(), graph_.node_count(),
                vectors_->out_weight.data(), stream_);
  }

  /// The later kernel on its way, in a thread of its own.
  struct Preparation {
    ~Preparation() { hold.abandon(); }
    HoldPoint hold;
    bool wanted = false;
    std::future<std::unique_ptr<Iterating>> coming;  ///< Valid: not taken yet.
  };

  [[nodiscard]] static GraphMemory memory_for(std::size_t bytes, std::size_t most_held,
                                              cudaStream_t stream) {
    if (!is_little(bytes, most_held)) return {most_held};
    constexpr std::size_t arrays = 64;  // that may be rounded up
    return {most_held, ScratchMemory(stream, bytes + arrays * ScratchMemory::alignment, most_held)};
  }

  void make_vectors() { vectors_.emplace(graph_, mixed_, stream_); }

  /// Begins to prepare the later kernel, beside all that the device does else; `held` where links
  /// are on their way: until it is wanted, when they are there and what can be done with them
  /// meanwhile is done. (Of the host's matrix, which may be gone by then, it needs no more than the
  /// sample that is kept.) If no thread is to be had there is no later kernel.
  void begin_to_prepare(bool held) {
    int device = 0;
    PAGERANK_CUDA(cudaGetDevice(&device));
    preparing_.emplace(Stream::Priority::early);  // what it has beside its large kernels is first
    Preparation& preparation = preparation_.emplace();
    if (held) graph_.hold_at_arrival(&preparation.hold);
    try {
      preparation.coming = std::async(std::launch::async, [this, device] {
        PAGERANK_CUDA(cudaSetDevice(device));
        return prepare_later();
      });
    } catch (const std::system_error&) {
      graph_.hold_at_arrival(nullptr);
      preparation_.reset();
      later_.make = {};
    }
  }
  /// Null if it cannot be had.
  [[nodiscard]] std::unique_ptr<Iterating> prepare_later() {
    auto coming = std::make_unique<Iterating>(later_.make(graph_, *preparing_));
    if (!coming->spmv) return {};
    try {
      make_loop(*coming);  // that of a correction is made where there is one
    } catch (const OutOfMemory&) {
      return {};
    }
    preparing_->wait();
    return coming;
  }
  /// When it takes the other's place does not hang on when it is there, so that the same input
  /// gives the same bits.
  void want_kernel() {
    if (!preparation_) begin_to_prepare(false);
    if (!preparation_) return;
    preparation_->wanted = true;
    preparation_->hold.want();
  }
  [[nodiscard]] bool preparation_wanted() const { return preparation_ && preparation_->wanted; }
  /// Wanted, and not taken yet.
  [[nodiscard]] bool kernel_is_coming() const {
    return preparation_wanted() && preparation_->coming.valid();
  }
  /// Whether the later kernel could be had.
  bool take_kernel() {
    std::unique_ptr<Iterating> coming = preparation_->coming.get();
    if (!coming) return false;
    before_ = std::exchange(now_, std::move(coming));
    later_.taken();
    begin_with_kernel();
    return true;
  }

  void make_loop(Iterating& of) {
    of.loop.emplace(queue_with(*of.spmv, ScalarSets::ranks, nullptr), vectors_->sums.data(),
                    loop_memory_, device_loop_);
  }
  void make_correction_loop(Iterating& of) {
    if (of.correction_loop) return;
    of.correction_loop.emplace(
        queue_with(*of.spmv, ScalarSets::correction, vectors_->source.data()),
        vectors_->sums.data(), loop_memory_, device_loop_);
  }
  /// Beside iterations of that kernel's own loop, in mixed precision. (What fails is tried again
  /// where the loop is needed. Of a plain loop the kernel is being called.)
  void make_correction_loop_ahead(Iterating& of) {
    if (!mixed_ || !of.loop->on_device()) return;
    try {
      make_correction_loop(of);
    } catch (const std::exception&) {
      of.correction_loop.reset();
    }
  }
  [[nodiscard]] IterationLoop::Queue queue_with(Spmv<T>& spmv, ScalarSets::Set scalars,
                                                const T* source) {
    return [this, &spmv, scalars, source](cudaStream_t stream, const IterationEnd& end) {
      spmv.multiply(vectors_->z.data(), vectors_->y.data(), stream);
      update_ranks(state_of(spmv, scalars, source), end, stream);
    };
  }

  [[nodiscard]] RankState<T> state(ScalarSets::Set scalars, const T* source) {
    return state_of(*now_->spmv, scalars, source);
  }
  [[nodiscard]] RankState<T> state_of(const Spmv<T>& spmv, ScalarSets::Set scalars,
                                      const T* source) {
    const NodeId more = graph_.more_unlinked();
    const std::uint64_t isolated = std::max<std::uint64_t>(spmv.isolated_nodes(), more > 0 ? 1 : 0);
    return {.nodes = graph_.node_count(),
            .graph_nodes = static_cast<double>(graph_.node_count() + more),
            .isolated = isolated,
            .isolated_in_graph = static_cast<double>(isolated + more),
            .z = vectors_->z.data(),
            .y = vectors_->y.data(),
            .out_weight = vectors_->out_weight.data(),
            .source = source,
            .scalars = vectors_->scalars.data() + scalars,
            .base = vectors_->base.data(),
            .sums = vectors_->sums.data(),
            .block_sums = vectors_->block_sums.data()};
  }

  bool mixed_, device_loop_;
  Stream stream_;
  TransferRing ring_;
  DeviceGraph<T> graph_;
  LaterKernel<T> later_;
  std::optional<Stream> preparing_;          ///< The later kernel.
  std::unique_ptr<Iterating> now_, before_;  ///< Freeing waits for the device: not in a solve.
  std::optional<SolveVectors<T>> vectors_;
  LoopMemory loop_memory_;
  std::optional<Preparation> preparation_;  ///< Of the later kernel; unset: not begun.
};

}  // namespace pagerank::gpu
