#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "core/link_scratch.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

TEST_CASE("places to gather links are the first that are free, side by side") {
  LinkScratch scratch(100);
  using Share = LinkScratch::Share;
  std::optional<Share> one, two, three;
  one.emplace(scratch, 30);
  two.emplace(scratch, 20);
  three.emplace(scratch, 40);
  CHECK(one->begin() == 0);
  CHECK(two->begin() == 30);
  CHECK(three->begin() == 50);
  CHECK(three->links() == 40);
  two.reset();
  CHECK(Share(scratch, 15).begin() == 30);
  CHECK(Share(scratch, 0).links() == 0);
  const Share most(scratch, 50);  // of 20 and of 10
  CHECK(most.begin() == 30);
  CHECK(most.links() == 20);
  const Share rest(scratch, 10);
  CHECK(rest.begin() == 90);
  CHECK(Share(scratch, 1).links() == 0);
  one.reset();
  CHECK(Share(scratch, 100).links() == 30);
}

TEST_CASE("a gap that is just large enough is taken before a larger one") {
  LinkScratch scratch(100);
  std::optional<LinkScratch::Share> one(std::in_place, scratch, 30);
  const LinkScratch::Share two(scratch, 20);
  one.reset();  // 30 at 0, 50 behind
  CHECK(LinkScratch::Share(scratch, 30).begin() == 0);
}

TEST_CASE("gaps between places that came back are one again, whichever came first") {
  for (const bool ascending : {false, true}) {
    LinkScratch scratch(90);
    std::vector<std::optional<LinkScratch::Share>> shares(3);
    for (auto& share : shares) share.emplace(scratch, 30);
    for (std::size_t i = 0; i < 3; ++i) shares[ascending ? i : 2 - i].reset();
    CHECK(LinkScratch::Share(scratch, 90).links() == 90);
    for (auto& share : shares) share.emplace(scratch, 30);
    shares[0].reset();
    shares[2].reset();
    shares[1].reset();
    CHECK(LinkScratch::Share(scratch, 90).links() == 90);
  }
}

TEST_CASE("no two threads have the same place") {
  constexpr std::size_t places = 1000;
  LinkScratch scratch(places);
  std::vector<std::atomic<int>> users(places);
  std::atomic<int> shared = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int turn = 0; turn < 2000; ++turn) {
        const LinkScratch::Share share(scratch, random() % 500);
        const auto each = [&](auto visit) {
          for (EdgeIndex l = 0; l < share.links(); ++l) visit(users.at(share.begin() + l));
        };
        each([&](std::atomic<int>& user) { shared += user++ != 0; });
        each([](std::atomic<int>& user) { --user; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 0);
  CHECK(LinkScratch::Share(scratch, places).links() == places);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
