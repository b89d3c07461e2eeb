#include "core/cpu_engine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/compensated_sum.hpp"
#include "core/convergence.hpp"
#include "core/huge_pages.hpp"
#include "core/mixed_precision.hpp"
#include "core/out_weights.hpp"
#include "core/scratch_memory.hpp"
#include "core/threads.hpp"

namespace pagerank {
namespace {

/// What one pass over the rows adds up.
struct RowSums {
  double change = 0;         ///< ||x_k - x_(k-1)||_1
  double dangling_mass = 0;  ///< of x_k
};

/// Nodes of one piece of work that has no links.
constexpr std::size_t nodes_per_piece = 1 << 14;

template <class Body>
void for_each_piece(ThreadTeam& team, std::size_t count, Body body) {
  team.for_each((count + nodes_per_piece - 1) / nodes_per_piece, [&](std::size_t p) {
    const std::size_t begin = p * nodes_per_piece;
    body(p, begin, std::min(count, begin + nodes_per_piece));
  });
}

/// An array of a solve, one element a node, that threads touch first.
template <class T>
Array<T> node_array(std::size_t nodes) {
  Array<T> array(nodes);
  advise_huge_pages(std::span(array));
  return array;
}

bool has_few_links(const TransitionMatrix& matrix) {
  return !matrix.weighted() &&
         OutWeights::worth_compacting(matrix.node_count(), matrix.link_count());
}
bool has_few_links(const BlockedMatrix& matrix) {
  return OutWeights::worth_compacting(matrix.node_count(), matrix.link_count());
}

/// The graph as iterations in T want it. z = x / out-weight is what they gather.
template <class T>
class PreparedGraph {
 public:
  /// Of a TransitionMatrix or a BlockedMatrix.
  template <class Matrix>
  PreparedGraph(Matrix matrix, const CpuEngineOptions& options)
      : nodes_(matrix.node_count()),
        more_unlinked_(matrix.more_unlinked),
        graph_nodes_(static_cast<double>(matrix.graph_node_count())),
        mixed_(options.precision == Precision::mixed),
        team_(options.threads),
        out_weights_(std::move(matrix.inverse_out_weight), has_few_links(matrix), team_),
        dangling_(std::move(matrix.dangling)),
        sums_(make_sums(matrix, options)) {}

  Solution solve(const Problem& problem, const SolveOptions& options) {
    require_no_dangling(dangling_, problem, static_cast<std::uint64_t>(more_unlinked_));
    require_valid(problem, options);
    Running running(*this, problem.alpha);
    return iterate_to_tolerance(running, problem, options);
  }

  [[nodiscard]] std::uint64_t bytes_per_iteration() const {
    // Reads x and out-weights, writes x and z; the sums count z as it is read.
    return sums_.bytes(sizeof(T)) + out_weights_.bytes() +
           (2 * sizeof(double) + sizeof(T)) * nodes_;
  }
  [[nodiscard]] bool blocked() const { return sums_.blocked(); }

 private:
  /// One solve.
  ///
  /// Mixed precision is iterative refinement: x_ is kept in double; float iterations find it
  /// until their change is what floats resolve, and from then on corrections of it. A correction s
  /// solves s = alpha B s + (alpha * dangling mass of s) / n + r with r = G(x) - x evaluated in
  /// double, which is the iteration itself with r in place of the teleport term; r shrinks, and
  /// with it what a float leaves of s.
  class Running final : public Iteration {
   public:
    Running(PreparedGraph& prepared, double alpha)
        : graph_(prepared), alpha_(alpha), nodes_(prepared.nodes_), x_(node_array<double>(nodes_)) {
      z_memory_.reserve(2 * aligned_nodes() * sizeof(T));
      z_ = z_memory_.as<T>();
      next_z_ = z_ + aligned_nodes();
      start(x_, [uniform = 1.0 / graph_.graph_nodes_](std::size_t) { return uniform; });
    }

    std::vector<double> advance(double target, std::uint32_t limit) override {
      // Where nothing is to be decided in between, asking costs nothing.
      if (!graph_.mixed_) return {step()};
      if (x_is_whole_) begin_correction();
      const double aim = floats_.aim(target);
      std::vector<double> changes;
      do changes.push_back(step());
      while (changes.back() > aim && changes.size() < std::min(limit, FloatIterations::batch));
      if (floats_.spent(changes, target)) residual();
      return changes;
    }

    [[nodiscard]] std::uint32_t between_residuals() const override {
      return graph_.mixed_ ? FloatIterations::batch : 1;
    }

    [[nodiscard]] double residual_corrected() const override { return floats_.residual(); }

    double residual() override {
      make_whole();
      if (std::is_same_v<T, float>) normalise();
      if (graph_.mixed_ && residuals_.empty()) residuals_ = node_array<T>(nodes_);
      const double* const z = exact_z();
      const double base = (alpha_ * exact_dangling_mass() + (1 - alpha_)) / graph_.graph_nodes_;
      std::vector<double> of_blocks(graph_.sums_.exact_block_count());
      graph_.sums_.for_each_exact_block(
          z, [&](std::size_t block, NodeId begin, NodeId end, const auto* y) {
            double sum = 0;
            for (NodeId i = begin; i < end; ++i) {
              const double r = alpha_ * value_of(y[i - begin]) + base - x_[i];
              if (!residuals_.empty()) residuals_[i] = static_cast<T>(r);
              sum += std::abs(r);
            }
            of_blocks[block] = sum;
          });
      residual_ = std::accumulate(of_blocks.begin(), of_blocks.end(), 0.0) +
                  graph_.more_unlinked_ * std::abs(base - x_.back());
      return residual_;
    }

    Array<double> scores() override {
      make_whole();
      return std::move(x_);
    }

   private:
    /// So that the second of two arrays begins at a cache line as well.
    [[nodiscard]] std::size_t aligned_nodes() const { return (std::size_t{nodes_} + 63) / 64 * 64; }
    static double value_of(double sum) { return sum; }
    static double value_of(const CompensatedSum& sum) { return sum.value(); }

    /// x = of(node), and what belongs to it.
    template <class X, class Of>
    void start(Array<X>& xs, Of of) {
      std::vector<double> masses((nodes_ + nodes_per_piece - 1) / nodes_per_piece);
      for_each_piece(graph_.team_, nodes_, [&](std::size_t p, std::size_t begin, std::size_t end) {
        graph_.out_weights_.for_each_inverse(begin, end, [&](std::size_t i, double inverse) {
          const double x = of(i);
          xs[i] = static_cast<X>(x);
          z_[i] = static_cast<T>(x * inverse);
          masses[p] += inverse > 0 ? 0 : x;
        });
      });
      dangling_mass_ =
          std::accumulate(masses.begin(), masses.end(), graph_.more_unlinked_ * of(nodes_ - 1));
      z_is_current_ = true;
    }

    double step() {
      x_is_whole_ = false;
      if (!z_is_current_) start(x_, [this](std::size_t i) { return x_[i]; });
      const double base = (alpha_ * dangling_mass_ + (floats_.of_correction() ? 0 : 1 - alpha_)) /
                          graph_.graph_nodes_;
      const double last_x = floats_.of_correction() ? correction_.back() : x_.back();
      std::vector<RowSums> of_blocks(graph_.sums_.block_count());
      graph_.sums_.for_each_block(
          z_, [&](std::size_t block, NodeId begin, NodeId end, const double* y) {
            of_blocks[block] = floats_.of_correction() ? update<true>(begin, end, y, base)
                                                       : update<false>(begin, end, y, base);
          });
      std::swap(z_, next_z_);
      // Of a last row that stands for others; it has no links.
      const double next_x = base + (floats_.of_correction() ? residuals_.back() : 0.0);
      RowSums sums{.change = graph_.more_unlinked_ * std::abs(next_x - last_x),
                   .dangling_mass = graph_.more_unlinked_ * next_x};
      for (const RowSums& block : of_blocks) {
        sums.change += block.change;
        sums.dangling_mass += block.dangling_mass;
      }
      dangling_mass_ = sums.dangling_mass;
      return sums.change;
    }

    /// The sums of few rows at a time: a long chain of additions would lose of the dangling mass
    /// what decides a last iteration.
    template <bool has_source>
    RowSums update(NodeId begin, NodeId end, const double* y, double base) {
      constexpr NodeId rows_together = OutWeights::at_once;
      RowSums sums;
      for (NodeId first = begin; first < end; first += std::min(rows_together, end - first)) {
        const NodeId last = first + std::min(rows_together, end - first);
        const RowSums few = update_few<has_source>(first, last, y + (first - begin), base);
        sums.change += few.change;
        sums.dangling_mass += few.dangling_mass;
      }
      return sums;
    }

    template <bool has_source>
    RowSums update_few(NodeId begin, NodeId end, const double* y, double base) {
      double change = 0, dangling_mass = 0;
      auto* const xs = current<has_source>().data() + begin;
      T* const zs = next_z_ + begin;
      OutWeights::Few few;
      const double* const inverse_weights = graph_.out_weights_.inverses(begin, end, few);
      const T* const sources = has_source ? residuals_.data() + begin : nullptr;
#pragma omp simd reduction(+ : change, dangling_mass)
      for (NodeId i = 0; i < end - begin; ++i) {
        double x = alpha_ * y[i] + base;
        if constexpr (has_source) x += sources[i];
        change += std::abs(x - xs[i]);
        dangling_mass += inverse_weights[i] > 0 ? 0.0 : x;
        xs[i] = static_cast<std::remove_reference_t<decltype(*xs)>>(x);
        zs[i] = static_cast<T>(x * inverse_weights[i]);
      }
      return {change, dangling_mass};
    }

    /// What is iterated.
    template <bool has_source>
    auto& current() {
      if constexpr (has_source) {
        return correction_;
      } else {
        return x_;
      }
    }

    /// Adds a correction to the ranks, once.
    void make_whole() {
      if (floats_.of_correction() && !x_is_whole_) {
        for_each_piece(graph_.team_, nodes_, [&](std::size_t, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) x_[i] += correction_[i];
        });
      }
      x_is_whole_ = true;
    }

    /// Scales the ranks so that they add up to 1, as x* does. Columns of G add up to 1, so that the
    /// sum of an error's elements, which rounding in float leaves, shrinks by alpha an iteration
    /// whatever the graph; an error that adds up to 0 shrinks as fast as the graph mixes.
    void normalise() {
      const auto sum_of = [](std::span<const double> terms) {
        CompensatedSum sum;
        for (const double term : terms) sum += term;
        return sum.value();
      };
      std::vector<double> of_pieces((nodes_ + nodes_per_piece - 1) / nodes_per_piece);
      for_each_piece(graph_.team_, nodes_, [&](std::size_t p, std::size_t begin, std::size_t end) {
        of_pieces[p] = sum_of(std::span(x_).subspan(begin, end - begin));
      });
      of_pieces.push_back(graph_.more_unlinked_ * x_.back());
      const double scale = 1 / sum_of(of_pieces);
      for_each_piece(graph_.team_, nodes_, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) x_[i] *= scale;
      });
    }

    /// x_ / out-weight in double. Iterations in float have theirs where it is written.
    const double* exact_z() {
      if constexpr (std::is_same_v<T, double>) {
        return z_;
      } else {
        auto* const z = z_memory_.as<double>();
        for_each_piece(graph_.team_, nodes_, [&](std::size_t, std::size_t begin, std::size_t end) {
          graph_.out_weights_.for_each_inverse(
              begin, end, [&](std::size_t i, double inverse) { z[i] = x_[i] * inverse; });
        });
        z_is_current_ = false;
        return z;
      }
    }

    /// Of x_, whose residual has been evaluated: the correction's first approximation is that.
    void begin_correction() {
      floats_ = FloatIterations::of_correction(residual_, alpha_);
      if (correction_.empty()) correction_ = node_array<T>(nodes_);
      start(correction_, [this](std::size_t i) { return residuals_[i]; });
    }

    double exact_dangling_mass() {
      const std::vector<NodeId>& dangling = graph_.dangling_;
      std::vector<CompensatedSum> masses((dangling.size() + nodes_per_piece - 1) / nodes_per_piece);
      for_each_piece(graph_.team_, dangling.size(),
                     [&](std::size_t p, std::size_t begin, std::size_t end) {
                       for (std::size_t d = begin; d < end; ++d) masses[p] += x_[dangling[d]];
                     });
      CompensatedSum mass;
      mass += graph_.more_unlinked_ * x_.back();
      for (const CompensatedSum& of_piece : masses) mass += of_piece.value();
      return mass.value();
    }

    PreparedGraph& graph_;
    double alpha_;
    NodeId nodes_;
    Array<double> x_;      ///< The ranks, without the correction that is iterated.
    Array<T> correction_;  ///< Mixed.
    ScratchMemory z_memory_;
    T *z_ = nullptr, *next_z_ = nullptr;  ///< x / out-weight, in z_memory_
    bool z_is_current_ = false;
    double dangling_mass_ = 0;
    bool x_is_whole_ = false;
    Array<T> residuals_;      ///< Mixed: G(x) - x.
    FloatIterations floats_;  ///< Mixed.
    double residual_ = 0;
  };

  InLinkSums make_sums(TransitionMatrix& matrix, const CpuEngineOptions& options) {
    const std::size_t held = out_weights_.bytes() + dangling_.size() * sizeof(NodeId);
    return {std::move(matrix.in_links), options.layout_wish().beside(held, nodes_),
            options.sizes.plain, team_};
  }
  InLinkSums make_sums(BlockedMatrix& matrix, const CpuEngineOptions& options) {
    const bool narrow = options.layout_wish().narrow;
    return {std::move(matrix.in_links), narrow, std::move(matrix.partial_sums), team_};
  }

  NodeId nodes_;
  double more_unlinked_;  ///< Nodes that the last one stands for besides,
  double graph_nodes_;    ///< and the sum of both.
  bool mixed_;
  ThreadTeam team_;
  OutWeights out_weights_;
  std::vector<NodeId> dangling_;
  InLinkSums sums_;
};

}  // namespace

class CpuEngine::Impl {
 public:
  template <class Matrix>
  Impl(Matrix matrix, const CpuEngineOptions& options) : threads_(options.threads) {
    if (options.precision == Precision::float64) {
      double_ = std::make_unique<PreparedGraph<double>>(std::move(matrix), options);
    } else {
      float_ = std::make_unique<PreparedGraph<float>>(std::move(matrix), options);
    }
  }

  template <class Matrix>
  static std::unique_ptr<Impl> of(Matrix matrix, CpuEngineOptions options) {
    if (matrix.node_count() == 0) throw std::invalid_argument("the graph has no nodes");
    options.threads = thread_count(options.threads);
    return std::make_unique<Impl>(std::move(matrix), options);
  }

  /// Calls action with the prepared graph.
  template <class Action>
  auto with_graph(Action action) {
    return float_ ? action(*float_) : action(*double_);
  }
  [[nodiscard]] int threads() const { return threads_; }

 private:
  int threads_;
  std::unique_ptr<PreparedGraph<float>> float_;
  std::unique_ptr<PreparedGraph<double>> double_;
};

CpuEngine::CpuEngine(TransitionMatrix matrix, CpuEngineOptions options)
    : impl_(Impl::of(std::move(matrix), options)) {}
CpuEngine::CpuEngine(BlockedMatrix matrix, CpuEngineOptions options)
    : impl_(Impl::of(std::move(matrix), options)) {}
CpuEngine::~CpuEngine() = default;

Solution CpuEngine::solve(const Problem& problem, const SolveOptions& options) {
  return impl_->with_graph([&](auto& graph) { return graph.solve(problem, options); });
}

std::uint64_t CpuEngine::bytes_per_iteration() const {
  return impl_->with_graph([](auto& graph) { return graph.bytes_per_iteration(); });
}

CpuLayout CpuEngine::layout() const {
  return impl_->with_graph(
      [](auto& graph) { return graph.blocked() ? CpuLayout::blocked : CpuLayout::plain; });
}

std::string CpuEngine::device() const {
  return cpu_device(impl_->threads());
}

std::string cpu_device(int threads) {
  return "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace pagerank
