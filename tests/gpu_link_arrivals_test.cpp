// Work on some links while others are on their way: who is told what when, without a GPU.
#include <doctest/doctest.h>

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gpu/link_arrivals.hpp"

namespace pagerank::gpu {
namespace {

using namespace std::chrono_literals;

/// The wait for a stretch, in a thread of its own.
std::future<void> waiter(const LinkArrivals& arrivals, std::size_t stretch) {
  return std::async(std::launch::async, [&arrivals, stretch] { arrivals.wait(stretch); });
}
bool is_over(std::future<void>& wait) {
  return wait.wait_for(20ms) == std::future_status::ready;
}

}  // namespace

TEST_SUITE_BEGIN("gpu");

TEST_CASE("stretches of links are all of them, the last one what is left") {
  const LinkArrivals arrivals(1001, 100);
  REQUIRE(arrivals.stretches() == 11);
  EdgeIndex next = 0;
  for (std::size_t s = 0; s < arrivals.stretches(); ++s) {
    CHECK(arrivals.begin(s) == next);
    next = arrivals.end(s);
  }
  CHECK(next == 1001);
  CHECK(LinkArrivals(200, 100).stretches() == 2);
}

TEST_CASE("a stretch has arrived when its last link has, in whatever order they come") {
  LinkArrivals arrivals(300, 100);
  std::future<void> first = waiter(arrivals, 0), second = waiter(arrivals, 1);
  arrivals.arrived(150, 300);
  CHECK_FALSE(is_over(first));
  CHECK_FALSE(is_over(second));
  arrivals.arrived(1, 150);
  CHECK(is_over(second));
  CHECK_FALSE(is_over(first));
  CHECK_FALSE(arrivals.complete());
  arrivals.arrived(0, 1);
  CHECK(is_over(first));
  CHECK(arrivals.complete());
  arrivals.wait(2);
}

TEST_CASE("links that many threads bring are all counted") {
  constexpr EdgeIndex links = 100'000, piece = 7;
  LinkArrivals arrivals(links, 1000);
  std::vector<std::thread> lanes;
  for (EdgeIndex lane = 0; lane < 4; ++lane) {
    lanes.emplace_back([&, lane] {
      for (EdgeIndex begin = lane * piece; begin < links; begin += 4 * piece) {
        arrivals.arrived(begin, std::min(links, begin + piece));
      }
    });
  }
  for (std::size_t s = 0; s < arrivals.stretches(); ++s) arrivals.wait(s);
  for (std::thread& lane : lanes) lane.join();
}

TEST_CASE("who waits for links that never come is told why; those that came are there") {
  LinkArrivals arrivals(300, 100);
  arrivals.arrived(0, 100);
  std::future<void> third = waiter(arrivals, 2);
  arrivals.failed(std::make_exception_ptr(std::runtime_error("no more")));
  CHECK_THROWS_WITH_AS(third.get(), "no more", std::runtime_error);
  arrivals.wait(0);
  CHECK_THROWS_AS(arrivals.wait(1), std::runtime_error);
}

TEST_SUITE_END();
}  // namespace pagerank::gpu
