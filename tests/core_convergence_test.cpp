#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/compensated_sum.hpp"
#include "core/convergence.hpp"
#include "core/mixed_precision.hpp"
#include "core/reference.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

namespace {

/// An iteration that replays given changes and residuals.
class Scripted final : public Iteration {
 public:
  Scripted(std::vector<double> changes, std::vector<double> residuals)
      : changes_(std::move(changes)), residuals_(std::move(residuals)) {}
  std::vector<double> advance(double target, std::uint32_t limit) override {
    std::vector<double> changes;
    do {
      changes.push_back(changes_.at(std::min(steps_++, changes_.size() - 1)));
    } while (changes.back() > target && changes.size() < std::min(limit, batch));
    return changes;
  }
  double residual() override {
    ++residual_calls;
    return residuals_.at(std::min(steps_, residuals_.size()) - 1);
  }
  double residual_corrected() const override {
    double residual = Iteration::residual_corrected();
    for (const auto& [step, corrected] : corrections) {
      if (step < steps_) residual = corrected;
    }
    return residual;
  }
  Array<double> scores() override { return {1}; }
  std::vector<std::pair<std::size_t, double>> corrections;  ///< The step each begins at, of what.
  int residual_calls = 0;
  std::uint32_t batch = 1;  ///< Iterations without asking, as a GPU does.

 private:
  std::vector<double> changes_, residuals_;
  std::size_t steps_ = 0;
};

const Problem half{.alpha = 0.5};  // error_from_change(0.5, c) = c

}  // namespace

TEST_CASE("the bounds are Banach's") {
  CHECK(error_from_change(0.5, 1e-3) == doctest::Approx(1e-3));
  CHECK(error_from_change(0.85, 3e-3) == doctest::Approx(0.85 / 0.15 * 3e-3));
  CHECK(error_from_change(0.85, change_for_tolerance(0.85, 1e-7)) == doctest::Approx(1e-7));
  CHECK(change_for_tolerance(0, 1e-7) == std::numeric_limits<double>::infinity());
  CHECK(error_from_residual(0.85, 3e-6) == doctest::Approx(2e-5));
  CHECK(error_from_residual(0.85, 0) > 0);  // rounding is never nothing
  CHECK(error_from_residual(0.85, 0) < 1e-13);
}

TEST_CASE("the residual is zero at the solution and bounds the distance elsewhere") {
  const EdgeList edges = make_graph(5, {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {0, 3}});
  const TransitionMatrix matrix = make_transition_matrix(edges);
  const Problem problem{.alpha = 0.7};
  std::vector<double> x = reference_pagerank(edges, problem.alpha);
  CHECK(residual_l1(matrix, problem, x) < 1e-15);
  const std::vector<double> exact = x;
  x[1] += 1e-3;
  x[4] -= 5e-4;
  const double residual = residual_l1(matrix, problem, x);
  CHECK(residual > 1e-4);
  CHECK(error_from_residual(problem.alpha, residual) >= l1_distance(x, exact));
}

TEST_CASE("the residual is the same bits for any number of threads") {
  std::vector<std::pair<NodeId, NodeId>> links;
  for (NodeId i = 0; i < 9000; ++i) links.emplace_back(i, (i * i + 7) % 9000);
  const TransitionMatrix matrix = make_transition_matrix(make_graph(9000, links));
  const std::vector<double> x(9000, 1.0 / 9000);
  const double one = residual_l1(matrix, {}, x, 1);
  for (const int threads : {2, 5, 16}) CHECK(residual_l1(matrix, {}, x, threads) == one);
}

TEST_CASE("iteration stops as soon as change and residual are within the tolerance") {
  Scripted iteration({0.4, 0.2, 0.1, 0.05}, {0.4, 0.2, 0.05, 0.02});
  const Solution solution = iterate_to_tolerance(iteration, half, {.tolerance = 0.11});
  CHECK(solution.iterations == 3);
  CHECK(solution.converged);
  CHECK(solution.changes == std::vector<double>{0.4, 0.2, 0.1});
  CHECK(solution.error_bound == doctest::Approx(0.1));
  CHECK(iteration.residual_calls == 1);
}

TEST_CASE("an engine that iterates in batches stops at the same iteration") {
  Scripted iteration({0.4, 0.2, 0.1, 0.05}, {0.4, 0.2, 0.05, 0.02});
  iteration.batch = 32;
  const Solution solution = iterate_to_tolerance(iteration, half, {.tolerance = 0.11});
  CHECK(solution.iterations == 3);
  CHECK(solution.converged);
  CHECK(iteration.residual_calls == 1);
}

TEST_CASE("a residual that does not confirm the change keeps the iteration going") {
  Scripted iteration({0.1, 0.05, 0.025, 0.02}, {1, 0.5, 0.04, 0.01});
  const Solution solution = iterate_to_tolerance(iteration, half, {.tolerance = 0.1});
  CHECK(solution.iterations == 3);
  CHECK(solution.converged);
}

TEST_CASE("changes that no longer shrink end the iteration unconverged") {
  Scripted iteration({0.4, 0.2, 0.2}, {0.2});
  const Solution solution = iterate_to_tolerance(iteration, half, {.tolerance = 0.1});
  CHECK(solution.iterations < 40);
  CHECK_FALSE(solution.converged);
  CHECK(solution.error_bound == doctest::Approx(0.4));
}

TEST_CASE("a correction of a much smaller residual may begin with larger changes") {
  constexpr std::uint32_t long_way = 1000;
  std::vector<double> changes = {0.4, 0.2};
  for (std::uint32_t i = 0; i < long_way; ++i) changes.push_back(0.4 * std::pow(0.998, i));
  const auto solve = [&](double corrected) {
    Scripted iteration(changes, {0.01});
    iteration.corrections = {{2, corrected}};
    return iterate_to_tolerance(iteration, half, {.tolerance = 0.1});
  };
  CHECK(solve(0.1).converged);
  CHECK(solve(0.1).iterations > 600);
  // None at all, or of what is no smaller than before: rounding is all that is left.
  CHECK(solve(std::numeric_limits<double>::infinity()).iterations < 40);
  Scripted iteration({0.4, 0.2, 0.3}, {0.2});
  iteration.corrections.emplace_back(2, 0.15);
  for (std::size_t step = 3; step < long_way; ++step) iteration.corrections.emplace_back(step, 0.1);
  CHECK(iterate_to_tolerance(iteration, half, {.tolerance = 0.1}).iterations < 40);
}

TEST_CASE("a change of exactly zero does not pass for convergence when the residual says no") {
  Scripted iteration({0.4, 0}, {0.2});
  const Solution solution = iterate_to_tolerance(iteration, half, {.tolerance = 0.1});
  CHECK_FALSE(solution.converged);
  CHECK(solution.iterations < 20);
}

TEST_CASE("the residual is evaluated from the change on that is to be certified, and not before") {
  for (const double tolerance : {1e-6, std::numeric_limits<double>::min()}) {
    CAPTURE(tolerance);
    const double last = change_to_certify(half.alpha, tolerance);
    CHECK(last >= std::numeric_limits<double>::epsilon() / 2);
    for (const bool reached : {false, true}) {
      Scripted iteration({0.4, 2 * last, reached ? last : std::nextafter(last, 1.0)}, {1, 1, 1, 1});
      std::size_t calls_within = 0;
      (void)iterate_to_tolerance(
          iteration, half,
          {.tolerance = tolerance, .max_iterations = 5, .observer = [&](const Progress& progress) {
             if (progress.iteration == 4) calls_within = iteration.residual_calls;
           }});
      CHECK((calls_within > 0) == reached);
    }
  }
}

TEST_CASE("a tolerance that rounding alone exceeds is given up as soon as only rounding is left") {
  const double least = error_from_residual(half.alpha, 0);
  // Each change is a new smallest, so that nothing seems to have stalled.
  std::vector<double> creeping = {0.4, 1e-9, 1e-16};
  for (int i = 1; i < 1000; ++i) creeping.push_back(1e-16 * (1 - 1e-5 * i));
  const auto solve = [&](double tolerance, double last_residual) {
    Scripted iteration(creeping, {0.4, 1e-9, last_residual, last_residual, 1e-17});
    return iterate_to_tolerance(iteration, half, {.tolerance = tolerance});
  };
  const Solution solution = solve(least / 2, 1e-16);
  CHECK(solution.iterations == 3);
  CHECK_FALSE(solution.converged);
  CHECK(solution.error_bound < 1.02 * least);
  // A change that the residual does not confirm is no reason, nor is a tolerance within reach.
  CHECK(solve(least / 2, 1e-12).iterations == 5);
  const Solution within_reach = solve(1.01 * least, 1e-16);
  CHECK(within_reach.iterations == 5);
  CHECK(within_reach.converged);
}

TEST_CASE("the maximum of iterations ends the iteration with a certificate") {
  Scripted iteration({0.4, 0.3, 0.2, 0.1}, {0.4, 0.3, 0.2, 0.1});
  const Solution solution =
      iterate_to_tolerance(iteration, half, {.tolerance = 1e-3, .max_iterations = 3});
  CHECK(solution.iterations == 3);
  CHECK_FALSE(solution.converged);
  CHECK(solution.error_bound == doctest::Approx(0.4));
}

TEST_CASE("the bound that the observer sees is at least what rounding may hide") {
  const Problem slow{.alpha = 0.99999};
  Scripted iteration({1e-6, 1e-16}, {1e-6, 1e-16});
  std::vector<double> seen;
  const Solution solution = iterate_to_tolerance(
      iteration, slow, {.tolerance = 1e-9, .observer = [&](const Progress& progress) {
                          seen.push_back(progress.error_bound);
                        }});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == doctest::Approx(error_from_change(slow.alpha, 1e-6)).epsilon(1e-6));
  CHECK(seen[1] == doctest::Approx(solution.error_bound).epsilon(1e-6).scale(0));
}

TEST_CASE("the observer sees every iteration and a stop request is obeyed") {
  Scripted iteration({0.4, 0.3, 0.2, 0.1}, {0.4, 0.3, 0.2, 0.1});
  std::stop_source stop;
  std::vector<std::uint32_t> seen;
  const Solution solution =
      iterate_to_tolerance(iteration, half,
                           {.tolerance = 1e-9,
                            .observer =
                                [&](const Progress& progress) {
                                  seen.push_back(progress.iteration);
                                  CHECK(progress.error_bound == doctest::Approx(progress.change));
                                  if (progress.iteration == 2) stop.request_stop();
                                },
                            .stop = stop.get_token()});
  CHECK(seen == std::vector<std::uint32_t>{1, 2});
  CHECK(solution.iterations == 2);
  CHECK_FALSE(solution.converged);
}

TEST_CASE("parameters out of range are refused") {
  const auto refused = [](double alpha, double tolerance) {
    Scripted iteration({0.1}, {0.1});
    CHECK_THROWS_AS(
        (void)iterate_to_tolerance(iteration, {.alpha = alpha}, {.tolerance = tolerance}),
        std::invalid_argument);
  };
  refused(1, 1e-8);
  refused(-0.1, 1e-8);
  refused(std::nan(""), 1e-8);
  refused(0.85, 0);
  refused(0.85, std::nan(""));
}

TEST_CASE("dangling nodes are refused by name and number where the problem forbids them") {
  const TransitionMatrix matrix = make_transition_matrix(make_graph(4, {{0, 1}, {2, 1}}));
  CHECK_NOTHROW(require_no_dangling(matrix.dangling, {}));
  CHECK_THROWS_WITH_AS(require_no_dangling(matrix.dangling, {.dangling = DanglingPolicy::error}),
                       doctest::Contains("2 dangling nodes"), DanglingNodesError);
  CHECK_THROWS_WITH_AS(require_no_dangling(matrix.dangling, {.dangling = DanglingPolicy::error}),
                       doctest::Contains("the first is node 2"), DanglingNodesError);
}

TEST_CASE("a compensated sum has the same bits with and without a branch") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  CompensatedSum branched, plain;
  for (int i = 0; i < 100'000; ++i) {
    const double term = std::ldexp(mantissa(random), static_cast<int>(random() % 80) - 40);
    branched.add(term);
    plain += term;
    REQUIRE(branched.value() == plain.value());
  }
  CompensatedSum small;
  small += 1;
  for (int i = 0; i < 1 << 20; ++i) small += 0x1p-60;
  CHECK(small.value() == 1 + 0x1p-40);
}

TEST_CASE("floats are asked for a tolerance that they reach, and else as far as they are sure") {
  const FloatIterations of_ranks;
  CHECK(of_ranks.aim(1e-3) == 1e-3);
  CHECK(of_ranks.aim(0x1p-23) == 0x1p-23);
  CHECK(of_ranks.aim(0x1p-24) == 0x1p-18);
  // A correction's change is small against it only as floats are against 1.
  const FloatIterations correction = FloatIterations::of_correction(1e-5, 0.9);
  CHECK(correction.of_correction());
  CHECK(correction.aim(2e-11) == 2e-11);
  CHECK(correction.aim(1e-12) == doctest::Approx(0x1p-18 * 1e-4));
  CHECK(correction.aim(1e-3) == 1e-3);
  CHECK(correction.aim(0x1p-23) == 0x1p-23);
}

TEST_CASE("floats are spent when they have done what they can, or do no more") {
  const FloatIterations iterations;
  const auto spent = [&](std::vector<double> changes, double target) {
    return iterations.spent(changes, target);
  };
  CHECK_FALSE(spent({1e-2, 1e-3}, 1e-12));
  CHECK(spent({1e-2, 1e-6}, 1e-12));
  CHECK_FALSE(spent({1e-2, 1e-6}, 1e-6));  // that is all that was asked for
  CHECK_FALSE(spent({1e-2, 1e-6}, 2e-7));  // and that is within reach
  const std::vector<double> circling = {3e-7, 4e-7, 3e-7, 4e-7, 3e-7, 4e-7, 3e-7, 4e-7};
  CHECK(spent(circling, 2e-7));
  CHECK_FALSE(spent({circling.begin() + 1, circling.end()}, 2e-7));  // not for long enough
  CHECK_FALSE(spent({8e-7, 7e-7, 6e-7, 5e-7, 4.5e-7, 4e-7, 3.5e-7, 3e-7}, 2e-7));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
