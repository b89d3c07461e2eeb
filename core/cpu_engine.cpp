#include "core/cpu_engine.hpp"

#include <algorithm>
#include <cmath>

#include "core/compensated_sum.hpp"
#include "core/convergence.hpp"
#include "core/parallel.hpp"

namespace pagerank {
namespace {

/// What one pass over the rows adds up.
struct RowSums {
  double change = 0;         ///< ||x_k - x_(k-1)||_1
  double dangling_mass = 0;  ///< of x_k

  RowSums& operator+=(const RowSums& other) {
    change += other.change;
    dangling_mass += other.dangling_mass;
    return *this;
  }
};

/// Gathers z = x * inverse_out_weight in T, which is what memory has to deliver at random; keeps x
/// and adds in double.
template <class T>
class CpuIteration final : public Iteration {
 public:
  CpuIteration(const TransitionMatrix& matrix, const Problem& problem, int threads)
      : matrix_(matrix),
        problem_(problem),
        threads_(threads),
        x_(matrix.node_count(), 1.0 / matrix.node_count()),
        z_(matrix.node_count()),
        next_z_(matrix.node_count()) {
    for (NodeId i = 0; i < matrix.node_count(); ++i) z_[i] = scaled(i);
    for (const NodeId node : matrix.dangling) dangling_mass_ += x_[node];
  }

  /// One at a time: here asking costs nothing.
  std::vector<double> advance(double, std::uint32_t) override { return {step()}; }

  double residual() override { return residual_l1(matrix_, problem_, x_, threads_); }

  Array<double> scores() override { return {x_.begin(), x_.end()}; }

 private:
  [[nodiscard]] T scaled(NodeId i) const { return T(x_[i] * matrix_.inverse_out_weight[i]); }

  double step() {
    const double n = matrix_.node_count();
    const double base = (problem_.alpha * dangling_mass_ + (1 - problem_.alpha)) / n;
    const auto sums = parallel_sum_blocks<RowSums>(
        matrix_.node_count(), threads_,
        [&](NodeId begin, NodeId end) { return update_rows(begin, end, base); });
    z_.swap(next_z_);
    dangling_mass_ = sums.dangling_mass;
    return sums.change;
  }

  /// (B x)_row, in pieces short enough for plain addition; the pieces' sums are compensated, so
  /// that a hub with millions of in-links keeps its digits.
  [[nodiscard]] double gather(NodeId row) const {
    constexpr EdgeIndex piece = 256;
    const EdgeIndex row_end = matrix_.in_links.row_offsets[row + 1];
    CompensatedSum y;
    for (EdgeIndex begin = matrix_.in_links.row_offsets[row]; begin < row_end; begin += piece) {
      y.add(gather(begin, std::min(begin + piece, row_end)));
    }
    return y.value();
  }

  [[nodiscard]] double gather(EdgeIndex begin, EdgeIndex end) const {
    const CsrMatrix& links = matrix_.in_links;
    double sum = 0;
    if (matrix_.weighted()) {
      for (EdgeIndex k = begin; k < end; ++k) sum += links.values[k] * z_[links.column_indices[k]];
    } else {
      for (EdgeIndex k = begin; k < end; ++k) sum += z_[links.column_indices[k]];
    }
    return sum;
  }

  RowSums update_rows(NodeId begin, NodeId end, double base) {
    RowSums sums;
    for (NodeId row = begin; row < end; ++row) {
      const double previous = x_[row];
      x_[row] = problem_.alpha * gather(row) + base;
      next_z_[row] = scaled(row);
      sums.change += std::abs(x_[row] - previous);
      if (matrix_.inverse_out_weight[row] == 0) sums.dangling_mass += x_[row];
    }
    return sums;
  }

  const TransitionMatrix& matrix_;
  const Problem& problem_;
  int threads_;
  std::vector<double> x_;
  std::vector<T> z_, next_z_;
  double dangling_mass_ = 0;
};

}  // namespace

CpuEngine::CpuEngine(const TransitionMatrix& matrix, CpuEngineOptions options)
    : matrix_(matrix), options_(options) {
  if (matrix.node_count() == 0) throw std::invalid_argument("the graph has no nodes");
  options_.threads = thread_count(options.threads);
}

Solution CpuEngine::solve(const Problem& problem, const SolveOptions& options) {
  require_no_dangling(matrix_, problem);
  if (options_.precision == Precision::float32) {
    CpuIteration<float> iteration(matrix_, problem, options_.threads);
    return iterate_to_tolerance(iteration, problem, options);
  }
  CpuIteration<double> iteration(matrix_, problem, options_.threads);
  return iterate_to_tolerance(iteration, problem, options);
}

std::uint64_t CpuEngine::bytes_per_iteration() const {
  // A row reads its offset and its inverse out-weight and reads and writes x and z.
  const std::uint64_t z_bytes =
      options_.precision == Precision::float32 ? sizeof(float) : sizeof(double);
  const std::uint64_t link_bytes = sizeof(NodeId) + (matrix_.weighted() ? sizeof(double) : 0);
  return matrix_.link_count() * link_bytes +
         matrix_.node_count() * (sizeof(EdgeIndex) + 3 * sizeof(double) + 2 * z_bytes);
}

std::string CpuEngine::device() const {
  return "CPU, " + std::to_string(options_.threads) +
         (options_.threads == 1 ? " thread" : " threads");
}

}  // namespace pagerank
