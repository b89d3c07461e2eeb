#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "core/host_device.hpp"

/// Whether, in the middle of a solve, another kernel is worth its preparation after all, by the
/// changes so far. For host and device, which looks without asking the host.
namespace pagerank::gpu {

/// Iterations until the change, `last` by now, is `target` (0: it is) if each is that before times
/// `ratio`, or as near to that as it can be: in exact arithmetic alpha at most.
[[nodiscard]] PAGERANK_HOST_DEVICE inline double iterations_at_ratio(double last, double ratio,
                                                                     double target, double alpha) {
  if (last <= target) return 0;
  constexpr double least_ratio = 0.05;
  return std::log(target / last) /
         std::log(std::fmin(std::fmax(ratio, std::fmin(least_ratio, alpha)), alpha));
}

/// After so few iterations the ratio of two changes still goes where it went.
inline constexpr std::uint32_t changes_that_bend = 5;

/// Iterations that a solve has before it, of which changes[0 .. count) are those so far, if they go
/// on shrinking as they did at last, until `target`; 0 where one change alone tells nothing. The
/// ratio of one to the next, which grows while what rank drains from slowly comes to the fore and
/// falls where hubs were far off, is taken to go on changing if it is one of the first: once more
/// as it did, or, where it levels off, by what is to come if it goes on levelling off so (Aitken's
/// delta-squared process). Of what three changes promise not all is believed, half where their
/// ratio hardly grows: the next look comes soon, and a change of the kernel that does not pay costs
/// more.
[[nodiscard]] PAGERANK_HOST_DEVICE inline double iterations_left(const double* changes,
                                                                 std::uint64_t count, double target,
                                                                 double alpha) {
  // The second ratio over the first: 1.09 to 1.64 of generated graphs that mix slowly (citations,
  // preferential attachment, traps, small worlds, webs, communities), 1.00 to 1.05 of others, among
  // them such with hubs, of which it falls later.
  constexpr double least_rise = 1.08;
  constexpr double of_three_changes = 0.85, of_three_that_hardly_rise = 0.5;  // are believed
  if (count < 2) return 0;
  const double* const end = changes + count;
  double ratio = end[-1] / end[-2], believed = 1;
  if (count > 2 && count <= changes_that_bend) {
    const double before = end[-2] / end[-3], rise = ratio - before;
    if (count == 3) {
      // (What shrinks nearly as slowly as can be cannot rise so much.)
      const bool hardly_rises = ratio < std::fmin(least_rise * before, alpha / least_rise);
      believed = hardly_rises ? of_three_that_hardly_rise : of_three_changes;
      ratio += rise;
    } else {
      // If it levels off as it began to, all that is to come; no more than the last.
      const double levels = rise / (before - end[-3] / end[-4]);
      ratio += levels > 0 && levels < 0.5 ? rise * levels / (1 - levels) : rise;
    }
  }
  return believed * iterations_at_ratio(end[-1], ratio, target, alpha);
}
[[nodiscard]] inline double iterations_left(std::span<const double> changes, double target,
                                            double alpha) {
  return iterations_left(changes.data(), changes.size(), target, alpha);
}

/// Iterations from one look at that to the next: few at first, for each comes late by as many as go
/// by until then, and half of what has been done later on, for what rank drains from slowly shows
/// late. The fourth change tells most of what three leave in doubt.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint32_t iterations_to_next_look(
    std::uint32_t done) {
  if (done == 0) return 3;
  if (done == 3) return 1;
  return done < 4 ? 2 : done / 2;
}

/// What the device looks at in a run of a solve's iterations.
struct KernelLooks {
  double payback = std::numeric_limits<double>::infinity();  ///< KernelChoice::payback
  double other_solves = 0;                                   ///< To come after this one.
  double target = 0;                                         ///< The change that ends the solve.
  double alpha = 0;
  double last = 0;         ///< The change before the run.
  std::uint32_t done = 0;  ///< Iterations before the run.
  std::uint32_t most = 0;  ///< More that the solve may have, at most.
  std::uint32_t next = 0;  ///< It looks when the solve has had so many; 0: never.

  /// Whether so many iterations are enough that are left of this solve, of which `now` are done.
  [[nodiscard]] PAGERANK_HOST_DEVICE bool pays(double left, std::uint32_t now) const {
    const double at_most = double(most) - double(now - done);
    const double possible = at_most < left ? at_most : left;  // NaN: no
    return possible + other_solves * (now + possible) > payback;
  }

  /// To be asked after each iteration of the run, whose changes are changes[0 .. of_run): whether a
  /// look was due and the other kernel pays. (Where changes bend, and some are not the run's, the
  /// answer is no.)
  [[nodiscard]] PAGERANK_HOST_DEVICE bool look(const double* changes, std::uint32_t of_run) {
    const std::uint32_t now = done + of_run;
    if (now != next) return false;
    next += iterations_to_next_look(now);
    if (done == 0) return pays(iterations_left(changes, of_run, target, alpha), now);
    if (now <= changes_that_bend) return false;
    const double change = changes[of_run - 1], before = of_run > 1 ? changes[of_run - 2] : last;
    return pays(iterations_at_ratio(change, change / before, target, alpha), now);
  }
};

}  // namespace pagerank::gpu
