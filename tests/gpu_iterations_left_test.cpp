// What a solve's changes tell of the iterations that are left, and so of whether a kernel that
// takes less for each is worth its preparation.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/convergence.hpp"
#include "core/cpu_engine.hpp"
#include "core/graph_generator.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/kernel_change.hpp"
#include "tests/engine_graphs.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("iterations that are left are those of a geometric sequence") {
  const auto left = [](std::vector<double> changes, double target, double alpha) {
    return gpu::iterations_left(changes, target, alpha);
  };
  CHECK(left({8, 4}, 1, 0.85) == doctest::Approx(2));
  CHECK(left({8}, 1, 0.85) == 0);
  CHECK(left({8, 4}, 4, 0.85) == 0);
  CHECK(left({8, 4}, 5, 0.85) == 0);
  CHECK(left({8, 0}, 0, 0.85) == 0);
  CHECK(left({64, 32, 16, 8, 4}, 1, 0.85) == doctest::Approx(2));
  // Nothing shrinks more slowly than by alpha, whatever rounding makes of it.
  CHECK(left({4, 4}, 1, 0.5) == doctest::Approx(2));
  CHECK(left({1, 4}, 1, 0.5) == doctest::Approx(2));
  CHECK(left({1, 0.5}, 0.25, 0) == 0);
}

TEST_CASE("the ratio of a solve's first changes goes on as it began") {
  const auto left = [](std::vector<double> changes, double alpha) {
    return gpu::iterations_left(changes, 1, alpha);
  };
  // Of what three promise not all is believed, for the fourth may tell otherwise.
  CHECK(left({40, 16, 8}, 0.85) == doctest::Approx(0.85 * std::log(8.0) / -std::log(0.6)));
  CHECK(left({100, 40, 24, 12}, 0.85) == doctest::Approx(std::log(12.0) / -std::log(0.4)));
  CHECK(left({40, 16, 8}, 0.55) == doctest::Approx(0.85 * std::log(8.0) / -std::log(0.55)));
  // Of four one sees how it levels off.
  CHECK(left({100, 40, 24, 16.32}, 0.85) ==
        doctest::Approx(std::log(16.32) / -std::log(0.68 + 0.08 * 0.4 / 0.6)));
  // However steeply: some iterations are left.
  CHECK(left({1010, 1000, 900, 8}, 0.85) > 0.5);
  // Of three that hardly slow down it is half: where hubs are far off they soon shrink faster.
  CHECK(left({40, 24, 12}, 0.85) == doctest::Approx(std::log(12.0) / -std::log(0.4) / 2));
  CHECK(left({40, 24, 15}, 0.85) == doctest::Approx(std::log(15.0) / -std::log(0.65) / 2));
  CHECK(left({40, 24, 16}, 0.85) == doctest::Approx(0.85 * std::log(16.0) / -std::log(11. / 15)));
  CHECK(left({50, 40, 32}, 0.85) == doctest::Approx(0.85 * std::log(32.0) / -std::log(0.8)));
  // Later on it does not.
  CHECK(left({320, 160, 80, 40, 16, 8}, 0.85) == doctest::Approx(3));
}

namespace {

/// What a solve of these changes costs that may change its kernel, in iterations that the change
/// would save each: those before it and its preparation, or all.
double cost(const std::vector<double>& changes, double target, double alpha, double payback) {
  for (std::uint32_t done = 0;;) {
    done += gpu::iterations_to_next_look(done);
    if (done >= changes.size()) return static_cast<double>(changes.size());
    if (gpu::iterations_left(std::span(changes).first(done), target, alpha) > payback) {
      return done + payback;
    }
  }
}

}  // namespace

TEST_CASE("the first changes of a solve tell whether another kernel is worth its preparation") {
  constexpr EdgeIndex nodes = 1 << 16;
  constexpr std::pair<const char*, GraphKind> kinds[] = {{"citation", GraphKind::citation},
                                                         {"preferential", GraphKind::preferential},
                                                         {"small world", GraphKind::small_world},
                                                         {"communities", GraphKind::communities},
                                                         {"traps", GraphKind::traps},
                                                         {"web", GraphKind::web},
                                                         {"R-MAT", GraphKind::rmat},
                                                         {"power law", GraphKind::power_law},
                                                         {"uniform", GraphKind::uniform}};
  std::vector<NamedGraph> cases;
  for (const auto& [name, kind] : kinds) {
    cases.push_back({name, scrambled_graph(kind, nodes, nodes * 16)});
    cases.push_back(
        {std::string(name) + ", sparse, weighted", scrambled_graph(kind, nodes, nodes * 4, true)});
  }
  cases.push_back({"citation, a tenth dangling",
                   tenth_dangling(scrambled_graph(GraphKind::citation, nodes, nodes * 16))});
  double all_paid = 0, all_best = 0;
  for (const NamedGraph& each : cases) {
    const TransitionMatrix matrix = make_transition_matrix(each.edges);
    for (const double alpha : {0.5, 0.85, 0.99}) {
      const std::vector<double> changes =
          CpuEngine(matrix, {}).solve({.alpha = alpha}, {.tolerance = 1e-9}).changes;
      const double target = change_for_tolerance(alpha, 1e-9);
      for (const double payback : {5, 10, 20, 40, 80, 160}) {
        CAPTURE(each.name);
        CAPTURE(alpha);
        CAPTURE(changes.size());
        CAPTURE(payback);
        // Who knew it before would take the better.
        const double best = std::min(payback, static_cast<double>(changes.size()));
        const double paid = cost(changes, target, alpha, payback);
        CHECK(paid <= 2 * best + 4);
        all_paid += paid;
        all_best += best;
      }
    }
  }
  CHECK(all_paid < 1.11 * all_best);
}

TEST_CASE("looks in the middle of a run answer as all changes so far do") {
  // Slowly from the twelfth on.
  std::vector<double> changes{1};
  while (changes.size() < 60) changes.push_back(changes.back() * (changes.size() < 11 ? 0.3 : 0.8));
  constexpr double target = 1e-9, alpha = 0.85;
  const auto all = static_cast<std::uint32_t>(changes.size());
  std::vector<std::uint32_t> paid_at;
  for (const double other_solves : {0.0, 2.0}) {
    for (const double payback : {5.0, 10.0, 16.0, 20.0, 25.0, 30.0, 100.0}) {
      for (const std::uint32_t limit : {30U, 1000U}) {  // of the solve
        for (const std::uint32_t run : {6U, 8U, 32U}) {
          CAPTURE(other_solves);
          CAPTURE(payback);
          CAPTURE(limit);
          CAPTURE(run);
          const std::uint32_t end = std::min(limit, all);
          std::uint32_t next = gpu::iterations_to_next_look(0);
          bool paid = false;
          for (std::uint32_t done = 0; done < end && !paid; done += run) {
            gpu::KernelLooks looks{.payback = payback,
                                   .other_solves = other_solves,
                                   .target = target,
                                   .alpha = alpha,
                                   .last = done == 0 ? 0 : changes[done - 1],
                                   .done = done,
                                   .most = limit - done,
                                   .next = next};
            for (std::uint32_t now = done + 1; now <= std::min(done + run, end) && !paid; ++now) {
              const double left =
                  std::min(gpu::iterations_left(std::span(changes).first(now), target, alpha),
                           static_cast<double>(limit) - now);
              const bool due = now == next;
              if (due) next += gpu::iterations_to_next_look(now);
              paid = looks.look(changes.data() + done, now - done);
              CHECK(paid == (due && left + other_solves * (now + left) > payback));
              CHECK(looks.next == next);
              if (paid) paid_at.push_back(now);
            }
          }
        }
      }
    }
  }
  // By looks of each kind, and by none.
  for (const std::uint32_t look : {3U, 4U, 13U}) {
    CAPTURE(look);
    CHECK(std::count(paid_at.begin(), paid_at.end(), look) > 0);
  }
  CHECK(paid_at.size() < std::size_t{2} * 7 * 2 * 3);
  CHECK_FALSE(gpu::KernelLooks{}.look(changes.data(), 6));
  // What is no number promises nothing.
  const std::vector<double> none(3, std::numeric_limits<double>::quiet_NaN());
  gpu::KernelLooks of_none{.payback = 1, .target = target, .alpha = alpha, .most = 1000, .next = 3};
  CHECK_FALSE(of_none.look(none.data(), 3));
}

TEST_CASE("the fourth change tells a graph that mixes slowly from one that only begins to") {
  constexpr EdgeIndex nodes = 1 << 16;
  const auto changes_of = [](GraphKind kind) {
    return CpuEngine(make_transition_matrix(scrambled_graph(kind, nodes, nodes * 16)), {})
        .solve({}, {.tolerance = 1e-6})
        .changes;
  };
  const double target = change_for_tolerance(0.85, 1e-6);
  // Three changes, were they believed, would promise more of either than pays.
  const std::vector<double> citation = changes_of(GraphKind::citation),
                            preferential = changes_of(GraphKind::preferential);
  const auto all_citation = static_cast<double>(citation.size()),
             all_preferential = static_cast<double>(preferential.size());
  REQUIRE(all_preferential + 8 < all_citation);
  CHECK(cost(preferential, target, 0.85, all_preferential + 8) == all_preferential);
  CHECK(cost(citation, target, 0.85, all_citation - 6) <= all_citation - 6 + 4);
}

TEST_CASE("hubs that are far off are not taken for a graph that mixes slowly") {
  // Ranks reach the hubs' followers late: the ratio of changes is 0.45 and 0.46 at first, 0.26
  // then.
  const TransitionMatrix matrix =
      make_transition_matrix(scrambled_graph(GraphKind::power_law, 1 << 18, 1 << 22));
  constexpr double alpha = 0.99;
  const std::vector<double> changes =
      CpuEngine(matrix, {}).solve({.alpha = alpha}, {.tolerance = 1e-8}).changes;
  const double target = change_for_tolerance(alpha, 1e-8);
  const auto all = static_cast<double>(changes.size());
  // As many as all of the solve takes would not pay; so there is nothing to go over for.
  CHECK(cost(changes, target, alpha, all) == all);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
