#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/thread_team.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

TEST_CASE("a team does each piece of a loop once, loop after loop") {
  for (const int threads : {1, 2, 8}) {
    CAPTURE(threads);
    ThreadTeam team(threads);
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
      for (int round = 0; round < 200; ++round) {
        std::vector<int> done(count, 0);
        team.for_each(count, [&](std::size_t i) { ++done[i]; });
        REQUIRE(std::accumulate(done.begin(), done.end(), 0) == static_cast<int>(count));
        REQUIRE(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("threads of a team work at the same time, also after they slept") {
  ThreadTeam team(3);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> there = 0;
    team.for_each(3, [&](std::size_t) {  // ends only if all three are in it
      ++there;
      while (there < 3) std::this_thread::yield();
    });
    CHECK(there == 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_CASE("an exception leaves a team's loop, and the team goes on") {
  ThreadTeam team(4);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_WITH_AS(team.for_each(100,
                                       [](std::size_t i) {
                                         if (i == 5) throw std::runtime_error("five");
                                       }),
                         "five", std::runtime_error);
    std::atomic<int> done = 0;
    team.for_each(100, [&](std::size_t) { ++done; });
    CHECK(done == 100);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
