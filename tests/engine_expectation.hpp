#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {

/// What is asked for, and what must come. In double that is the same. In float, rounding alone
/// moves the scores by up to 2^-24 / (1 - alpha) for each vector that is rounded, and the
/// certificate can be several times that: worst where a hub and its leaves lock into a cycle of two
/// roundings.
struct Expectation {
  double tolerance;
  double bound;
  double distance;
};
inline Expectation expectation(const EngineCase& engine, double alpha = 0.85) {
  if (engine.precision == Precision::float64) return {1e-12, 1e-12, 1e-12};
  // A library that loses links of long rows in float brings no correction nearer.
  if (engine.precision == Precision::mixed) {
    return engine.library ? Expectation{1e-8, 1e-3, 1e-3} : Expectation{1e-12, 1e-12, 1e-12};
  }
  if (engine.library) return {1e-6, 1e-3, 1e-3};
  const double rounding = std::max(1.0, 0.15 / (1 - alpha));
  return {1e-6, 4e-6 * rounding, 2e-6 * rounding};
}

inline void check_solution(const Solution& solution, const std::vector<double>& exact,
                           const Expectation& expected) {
  CHECK(solution.converged == (solution.error_bound <= expected.tolerance));
  CHECK(solution.error_bound <= expected.bound);
  CHECK(solution.iterations == solution.changes.size());
  const double distance = l1_distance(solution.scores, exact);
  CHECK(distance <= expected.distance);
  CHECK(distance <= solution.error_bound + 1e-14);  // the reference's own digits
}

}  // namespace pagerank::tests
