// What pagerank-bench solve takes for the time of an iteration.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/bench/iteration_time.hpp"
#include "core/convergence.hpp"

namespace pagerank::app::bench {
TEST_SUITE_BEGIN("app");

namespace {

constexpr std::chrono::milliseconds of_residual(60);

/// Takes no time to iterate, and some to evaluate a residual. Its changes are halves of the one
/// before, the residual stays where floats leave it.
class SlowResiduals final : public Engine {
 public:
  explicit SlowResiduals(double first_change) : first_change_(first_change) {}

  Solution solve(const Problem& problem, const SolveOptions& options) override {
    Halving iteration;
    iteration.next = first_change_;
    Solution solution = iterate_to_tolerance(iteration, problem, options);
    residuals += iteration.residuals;
    return solution;
  }
  std::string device() const override { return "none"; }
  std::uint64_t bytes_per_iteration() const override { return 0; }

  int residuals = 0;

 private:
  struct Halving final : Iteration {
    std::vector<double> advance(double target, std::uint32_t limit) override {
      std::vector<double> changes;
      do {
        changes.push_back(next);
        next /= 2;
      } while (changes.back() > target && changes.size() < limit && changes.size() < 4);
      return changes;
    }
    double residual() override {
      ++residuals;
      std::this_thread::sleep_for(of_residual);
      return 1e-9 * std::pow(0.99, residuals);
    }
    Array<double> scores() override { return {}; }
    double next = 0;
    int residuals = 0;
  };
  double first_change_;
};

}  // namespace

TEST_CASE("an iteration's time is without residuals, also where changes come down to rounding") {
  const BenchOptions options{.seconds = 0.02};
  // Down to a unit roundoff of double, 2^-53, after 45 of the 64 iterations, and after none.
  for (const double first_change : {0x1p-9, 1.0e9}) {
    CAPTURE(first_change);
    SlowResiduals engine(first_change);
    const std::vector<double> samples = time_iterations(engine, options);
    CHECK(samples.size() == 3);
    for (const double sample : samples) {
      CHECK(sample >= 0);
      CHECK(sample < std::chrono::duration<double>(of_residual).count() / 10);
    }
    CHECK(engine.residuals <= 3);  // the certificate of each
  }
}

TEST_SUITE_END();
}  // namespace pagerank::app::bench
