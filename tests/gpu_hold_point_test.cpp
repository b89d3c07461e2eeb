// A thread that is held with what it has prepared: when it goes on, without a GPU.
#include <doctest/doctest.h>

#include <chrono>
#include <future>

#include "gpu/hold_point.hpp"

namespace pagerank::gpu {
namespace {

using namespace std::chrono_literals;

std::future<void> held_at(HoldPoint& point) {
  return std::async(std::launch::async, [&point] { point.pass(); });
}
bool is_over(const std::future<void>& wait) {
  return wait.wait_for(20ms) == std::future_status::ready;
}

}  // namespace

TEST_SUITE_BEGIN("gpu");

TEST_CASE("who is held goes on when that is wanted, before it comes or after") {
  for (const bool before : {false, true}) {
    HoldPoint point;
    if (before) point.want();
    std::future<void> held = held_at(point);
    if (!before) {
      CHECK_FALSE(is_over(held));
      point.want();
    }
    held.get();
  }
}

TEST_CASE("who is held is told when that is not wanted, before it comes or after") {
  for (const bool before : {false, true}) {
    HoldPoint point;
    if (before) point.abandon();
    std::future<void> held = held_at(point);
    if (!before) {
      CHECK_FALSE(is_over(held));
      point.abandon();
    }
    CHECK_THROWS_AS(held.get(), HoldPoint::Abandoned);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::gpu
