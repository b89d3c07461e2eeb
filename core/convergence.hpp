#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank {

/// G(x) = alpha B x + (alpha * dangling mass + 1 - alpha) v is a contraction in the L1 norm with
/// factor alpha, and x* = G(x*) its fixed point. Banach's theorem gives both bounds used here.

/// A posteriori bound of ||x_k - x*||_1 from the change ||x_k - x_(k-1)||_1, exact arithmetic.
[[nodiscard]] double error_from_change(double alpha, double change);

/// The largest change at which error_from_change() is within `tolerance`.
[[nodiscard]] double change_for_tolerance(double alpha, double tolerance);

/// Bound of ||x - x*||_1 for any x at all from the residual ||G(x) - x||_1, where the residual was
/// evaluated in double precision with compensated row sums. Adds what rounding can have hidden.
[[nodiscard]] double error_from_residual(double alpha, double residual);

/// ||G(x) - x||_1 in double precision, compensated row sums; x has one element a row. The same
/// bits for any number of threads (0: as many as OpenMP offers).
[[nodiscard]] double residual_l1(const TransitionMatrix& matrix, const Problem& problem,
                                 std::span<const double> x, int threads = 0);

/// How many leading places of the ranking are certain: the largest k such that each of the first k
/// scores exceeds its successor by more than error_bound (two nodes whose scores differ by more
/// than a bound of ||x - x*||_1 are in the right order). `threads`: 0 for as many as OpenMP offers.
/// The last score is that of so many more nodes: TransitionMatrix::more_unlinked.
[[nodiscard]] std::size_t certified_depth(std::span<const double> scores, double error_bound,
                                          int threads = 0, std::uint64_t more_unlinked = 0);

/// Throws std::invalid_argument for an alpha outside [0, 1) or a tolerance that is not positive.
void require_valid(const Problem& problem, const SolveOptions& options);

/// Throws DanglingNodesError if the problem forbids dangling nodes and the graph has some: these,
/// and so many that have no row.
void require_no_dangling(std::span<const NodeId> dangling, const Problem& problem,
                         std::uint64_t more_unlinked = 0);

/// What an engine provides to iterate_to_tolerance(): the state of one running solve.
class Iteration {
 public:
  virtual ~Iteration() = default;
  /// x <- G(x) until ||x_k - x_(k-1)||_1 <= target, but at least once and at most `limit` times, or
  /// as often as the engine goes without asking. Returns the change of each iteration.
  virtual std::vector<double> advance(double target, std::uint32_t limit) = 0;
  /// ||G(x) - x||_1 of the current x, as error_from_residual() wants it.
  virtual double residual() = 0;
  /// How many iterations are worth doing between two residuals where the change promises the
  /// tolerance and the residual does not confirm it.
  [[nodiscard]] virtual std::uint32_t between_residuals() const { return 1; }
  /// The residual of the x whose correction is iterated now; infinite where x itself is.
  [[nodiscard]] virtual double residual_corrected() const {
    return std::numeric_limits<double>::infinity();
  }
  /// The current x in node order.
  virtual Array<double> scores() = 0;
};

/// The change from which on the stop rule has the residual evaluated, after every iteration or
/// every few: what promises the tolerance, and no less than a unit roundoff of double, which no
/// iteration makes any smaller to speak of.
[[nodiscard]] double change_to_certify(double alpha, double tolerance);

/// The stop rule, shared by all engines. Iterates until the change promises the tolerance, and from
/// then on until the residual confirms it (in float it may take a few iterations more). Gives up
/// where rounding keeps both from shrinking, where it is all that is left of the bound of an error
/// and still more than the tolerance, at max_iterations, or when asked to stop.
[[nodiscard]] Solution iterate_to_tolerance(Iteration& iteration, const Problem& problem,
                                            const SolveOptions& options);

}  // namespace pagerank
