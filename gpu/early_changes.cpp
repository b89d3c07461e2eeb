#include "gpu/early_changes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/convergence.hpp"
#include "gpu/neighbourhoods.hpp"

namespace pagerank::gpu {
namespace {

/// What is left of changes that are none, where walks were added up in float.
constexpr double float_noise = 1e-7;

/// Means over all nodes of what is known of the seen ones.
class Means {
 public:
  Means(std::span<const SeenNode> seen, std::uint64_t nodes, EdgeIndex links) {
    const double in_links_per_node = static_cast<double>(links) / static_cast<double>(nodes);
    for (const SeenNode& node : seen) {
      // How much more often than evenly such a node is drawn.
      const double drawn = (1 + static_cast<double>(node.in_links) / in_links_per_node) / 2;
      weights_.push_back(1 / (drawn * static_cast<double>(seen.size())));
    }
  }
  template <class Value>
  [[nodiscard]] double of(Value value) const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * value(i);
    return sum;
  }

 private:
  std::vector<double> weights_;
};

/// ||x_k - x_(k-1)||_1, for k = 1 ..
std::vector<double> early_changes(std::span<const SeenNode> seen, int iterations,
                                  const Means& means, double alpha) {
  std::array<double, early_iterations + 1> given{1};  // to all nodes alike, by each iteration
  std::vector<double> changes;
  std::vector<double> ranks(seen.size(), 1), before;  // times n
  for (int k = 1; k <= iterations; ++k) {
    given[k] = 1 - alpha +
               alpha * means.of([&](std::size_t i) { return seen[i].dangling > 0 ? ranks[i] : 0; });
    before = ranks;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ranks[i] = given[k];
      double power = 1;
      for (int j = 1; j <= k; ++j) {
        power *= alpha;
        ranks[i] += power * seen[i].walks[j - 1] * given[k - j];
      }
    }
    changes.push_back(means.of([&](std::size_t i) { return std::abs(ranks[i] - before[i]); }));
  }
  return changes;
}

}  // namespace

Outlook outlook_by_early_changes(std::span<const SeenNode> seen, int iterations,
                                 std::uint64_t nodes, EdgeIndex links, double alpha,
                                 double tolerance) {
  const std::vector<double> changes =
      early_changes(seen, iterations, Means(seen, nodes, links), alpha);
  const double target = change_for_tolerance(alpha, tolerance);
  const double last = changes.back(), before = *(changes.end() - 2), first = *(changes.end() - 3);
  if (!(last > std::max(target, float_noise))) return {static_cast<double>(iterations), 1};
  const double left = std::min(last / before, alpha * slowest_mixing);
  return {.iterations = iterations + std::log(target / last) / std::log(left),
          .growth = last / before / (before / first)};
}

}  // namespace pagerank::gpu
