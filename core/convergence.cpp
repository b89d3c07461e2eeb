#include "core/convergence.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/mixed_precision.hpp"
#include "core/ranking.hpp"

namespace pagerank {
namespace {

constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// In exact arithmetic changes and residuals shrink by alpha or more each time. So many in a row
/// without a new smallest show that only rounding is left.
class StallDetector {
 public:
  explicit StallDetector(std::uint32_t patience) : patience_(patience) {}
  bool stalled_at(double value) {
    since_smallest_ = value < smallest_ ? 0 : since_smallest_ + 1;
    smallest_ = std::min(smallest_, value);
    return since_smallest_ >= patience_;
  }

 private:
  std::uint32_t patience_, since_smallest_ = 0;
  double smallest_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double error_from_change(double alpha, double change) {
  return alpha / (1 - alpha) * change;
}

double change_for_tolerance(double alpha, double tolerance) {
  return alpha > 0 ? tolerance * (1 - alpha) / alpha : std::numeric_limits<double>::infinity();
}

double error_from_residual(double alpha, double residual) {
  // Every G(x)_i is a sum of products >= 0. With compensated sums its relative error is a few units
  // roundoff whatever the row's length (elements of B: 4, products: 2, sum: 2, or 20 where it is
  // InLinkSums::for_each_exact_block()'s, alpha and the teleport term: 6; the dangling mass, added
  // up compensated and then in a tree, some 20 more), and ||G(x)||_1 = 1: 64 units cover it.
  return (residual + 64 * unit_roundoff) / (1 - alpha);
}

std::size_t certified_depth(std::span<const double> scores, double error_bound, int threads,
                            std::uint64_t more_unlinked) {
  const auto shared = [&](NodeId row) { return more_unlinked > 0 && row + 1 == scores.size(); };
  // Ties end most rankings early, so look at a short prefix first.
  for (std::size_t depth = 1024;; depth *= 4) {
    const std::vector<NodeId> order = rank_nodes(scores, depth, threads);
    for (std::size_t place = 0; place < order.size(); ++place) {
      if (shared(order[place])) return place;
      if (place + 1 == order.size()) break;
      if (!(scores[order[place]] - scores[order[place + 1]] > error_bound)) return place;
    }
    if (order.size() == scores.size()) return order.size();
  }
}

void require_valid(const Problem& problem, const SolveOptions& options) {
  if (!(problem.alpha >= 0 && problem.alpha < 1))
    throw std::invalid_argument("alpha must be at least 0 and below 1");
  if (!(options.tolerance > 0)) throw std::invalid_argument("tolerance must be above 0");
}

void require_no_dangling(std::span<const NodeId> dangling, const Problem& problem,
                         std::uint64_t more_unlinked) {
  if (problem.dangling == DanglingPolicy::error && !dangling.empty()) {
    throw DanglingNodesError(dangling.front(), dangling.size() + more_unlinked);
  }
}

double change_to_certify(double alpha, double tolerance) {
  return std::max(change_for_tolerance(alpha, tolerance), unit_roundoff);
}

Solution iterate_to_tolerance(Iteration& iteration, const Problem& problem,
                              const SolveOptions& options) {
  require_valid(problem, options);
  Solution solution;
  // What rounding hides is known beforehand. Where that alone is more than the tolerance,
  // iterations whose change is below a unit roundoff make the bound less by a sixty-fourth at most.
  const double least_bound = error_from_residual(problem.alpha, 0);
  const bool within_reach = options.tolerance > least_bound;
  const double target = change_to_certify(problem.alpha, options.tolerance);
  // That floats go no further takes mixed precision two batches to find out, and more where
  // rounding happens to make changes that seem to shrink.
  const StallDetector no_changes(4 * FloatIterations::batch);
  StallDetector changes = no_changes, bounds(10);
  double corrected = iteration.residual_corrected();
  bool reached = false;    // the change promises the tolerance
  bool certified = false;  // error_bound belongs to the current x
  bool done = false;
  while (!done && solution.iterations < options.max_iterations && !options.stop.stop_requested()) {
    // Once the change is small enough, the residual follows every iteration, or every few.
    const std::uint32_t left = options.max_iterations - solution.iterations;
    const std::uint32_t limit = reached ? std::min(left, iteration.between_residuals()) : left;
    const std::vector<double> advanced = iteration.advance(target, limit);
    // A correction that sets out from a much smaller residual is progress, though its changes may
    // be larger at first than the last ones before it, which rounding made.
    if (iteration.residual_corrected() < corrected / 2) {
      corrected = iteration.residual_corrected();
      changes = no_changes;
    }
    for (const double change : advanced) {
      ++solution.iterations;
      solution.changes.push_back(change);
      if (options.observer) {
        options.observer({solution.iterations, change,
                          error_from_residual(problem.alpha, problem.alpha * change)});
      }
      reached = reached || change <= target;
      done = changes.stalled_at(change) && !reached;
    }
    certified = reached;
    if (reached) {
      solution.error_bound = error_from_residual(problem.alpha, iteration.residual());
      done = solution.error_bound <= options.tolerance ||
             (!within_reach && solution.error_bound <= 2 * least_bound) ||
             bounds.stalled_at(solution.error_bound);
    }
  }
  if (!certified) {
    solution.error_bound = error_from_residual(problem.alpha, iteration.residual());
  }
  solution.converged = solution.error_bound <= options.tolerance;
  solution.scores = iteration.scores();
  return solution;
}

}  // namespace pagerank
