#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <vector>

#include "core/link_arena.hpp"
#include "core/page_array.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("core");

namespace {

constexpr std::size_t page = std::size_t{2} << 20;

/// Whether memory was ever touched, as far as whole pages of the system tell.
template <class T>
std::size_t resident_pages(std::span<const T> array) {
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data()) / 4096 * 4096;
  const auto end = reinterpret_cast<std::uintptr_t>(array.data() + array.size());
  std::vector<unsigned char> there((end - begin + 4095) / 4096);
  REQUIRE(mincore(reinterpret_cast<void*>(begin), end - begin, there.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char c) { return (c & 1) != 0; }));
}

}  // namespace

TEST_CASE("links of a lot lie side by side, and those of no two where others are") {
  for (const bool wide : {false, true}) {
    const EdgeIndex slab = LinkArena::slab_links(wide);
    LinkArena arena(20 * slab, wide, true);
    std::vector<LinkArena::Lot> lots(3);
    std::vector<std::pair<EdgeIndex, EdgeIndex>> taken;
    for (EdgeIndex k = 0; k < 30; ++k) {
      const EdgeIndex links = k == 7 ? 2 * slab + 5 : slab / 7 * (k % 4);
      const EdgeIndex place = arena.take(lots[k % 3], links);
      if (links > 0) taken.emplace_back(place, place + links);
    }
    std::sort(taken.begin(), taken.end());
    for (std::size_t k = 1; k < taken.size(); ++k) CHECK(taken[k - 1].second <= taken[k].first);
    CHECK(taken.back().second <= 20 * slab);
    CHECK((arena.links().high != nullptr) == wide);
  }
}

TEST_CASE("what an arena says that it has room for, it has, and no more than there is") {
  const EdgeIndex slab = LinkArena::slab_links(false);
  const EdgeIndex links = 3 * slab;
  LinkArena arena(LinkArena::capacity_for(links, 4, false), false, false);
  REQUIRE(arena.has_room(links, 4));
  CHECK_FALSE(arena.has_room(4 * links, 4));
  std::vector<LinkArena::Lot> lots(4);
  // Runs that fit a slab badly.
  for (EdgeIndex k = 0, left = links; left > 0; ++k) {
    const EdgeIndex run = std::min(left, slab / 2 + 1);
    CHECK_NOTHROW((void)arena.take(lots[k % 4], run));
    left -= run;
  }
  CHECK_THROWS_AS((void)arena.take(lots[0], 20 * slab), std::bad_alloc);
}

TEST_CASE("memory of links that are freed is what the next get") {
  const EdgeIndex slab = LinkArena::slab_links(false);
  LinkArena arena(4 * slab, false, false);
  LinkArena::Lot first, second, third;
  const EdgeIndex place = arena.take(first, slab);
  const EdgeIndex kept = arena.take(second, slab);
  arena.free(first);
  CHECK(arena.take(third, slab / 2) == place);
  CHECK(arena.take(third, slab / 2) == place + slab / 2);
  CHECK(kept != place);
}

TEST_CASE("a run longer than a slab gets slabs that are free, if they follow each other") {
  const EdgeIndex slab = LinkArena::slab_links(false);
  LinkArena arena(8 * slab, false, false);
  std::vector<LinkArena::Lot> lots(6);
  std::vector<EdgeIndex> places(6);
  for (std::size_t lot = 0; lot < 6; ++lot) places[lot] = arena.take(lots[lot], slab);
  arena.free(lots[4]);
  arena.free(lots[0]);
  arena.free(lots[3]);
  LinkArena::Lot lot, other;
  CHECK(arena.take(lot, 2 * slab) == std::min(places[3], places[4]));
  CHECK(arena.take(lot, slab) == places[0]);
  CHECK(arena.take(other, 2 * slab) == 6 * slab);  // new ones
}

TEST_CASE("an arena of one slab holds runs of any length, and no more than it was made for") {
  for (const EdgeIndex links : {EdgeIndex{1}, EdgeIndex{1000}, EdgeIndex{3'000'001}}) {
    LinkArena arena(links, false, true, LinkArena::Slabs::one);
    LinkArena::Lot lot;
    CHECK(arena.take(lot, links / 3) == 0);
    CHECK(arena.take(lot, links - links / 3) == links / 3);
    CHECK_THROWS_AS((void)arena.take(lot, 1), std::bad_alloc);
    arena.links().low[links - 1] = 5;
    arena.links().weights[links - 1] = 7;
    arena.free(lot);
    Array<NodeId> array(4 * page / sizeof(NodeId));
    LinkArena::Heir heir{std::span(array)};
    arena.give_pages(heir, std::span(array));
    std::fill(array.begin(), array.end(), 3U);
    CHECK(std::count(array.begin(), array.end(), 3U) == std::ssize(array));
  }
}

TEST_CASE("pages of links that are freed go to an array, and it alone changes") {
  const EdgeIndex slab = LinkArena::slab_links(true);
  LinkArena arena(4 * slab, true, true);
  const Links links = arena.links();
  LinkArena::Lot freed, kept;
  const EdgeIndex gone = arena.take(freed, slab), here = arena.take(kept, slab);
  for (EdgeIndex l = 0; l < slab; ++l) {
    for (const EdgeIndex at : {gone + l, here + l}) {
      links.low[at] = static_cast<std::uint32_t>(l);
      links.high[at] = static_cast<std::uint16_t>(l);
      links.weights[at] = static_cast<double>(l);
    }
  }
  const auto in_slab = [&] {
    return resident_pages(std::span<const std::uint32_t>(links.low + gone, slab)) +
           resident_pages(std::span<const std::uint16_t>(links.high + gone, slab)) +
           resident_pages(std::span<const double>(links.weights + gone, slab));
  };
  REQUIRE(in_slab() == slab * 14 / 4096);
  arena.free(freed);

  // Seven pages of 2 MiB are there.
  PageArray<double> heir_array(10 * page / sizeof(double));  // not of the heap's used memory
  LinkArena::Heir heir{std::span(heir_array)};
  const std::size_t half = heir_array.size() / 2;
  arena.give_pages(heir, std::span(heir_array).first(half));
  const std::size_t there = resident_pages(std::span<const double>(heir_array));
  if (there >= 4 * page / 4096) {
    CHECK(there <= 6 * page / 4096);
  } else {
    MESSAGE("this system does not move pages");  // Linux before 5.7
  }
  CHECK(in_slab() <= slab * 14 / 4096 - 4 * page / 4096);
  std::iota(heir_array.begin(), heir_array.begin() + static_cast<std::ptrdiff_t>(half), 0.0);
  // What is written stays as it is when the rest comes, with a page that it shares.
  arena.give_pages(heir, std::span(heir_array).subspan(half - 10));
  std::iota(heir_array.begin() + static_cast<std::ptrdiff_t>(half), heir_array.end(),
            static_cast<double>(half));
  CHECK(in_slab() == 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < heir_array.size(); ++i) {
    wrong += heir_array[i] != static_cast<double>(i);
  }
  for (EdgeIndex l = 0; l < slab; ++l) {
    wrong += links.low[here + l] != static_cast<std::uint32_t>(l) ||
             links.high[here + l] != static_cast<std::uint16_t>(l) ||
             links.weights[here + l] != static_cast<double>(l);
  }
  CHECK(wrong == 0);
}

TEST_CASE("an array without a whole page gets none") {
  LinkArena arena(1, false, false);
  Array<NodeId> small(1000, 7);
  LinkArena::Heir heir{std::span(small)};
  arena.give_pages(heir, std::span(small));
  LinkArena::Heir none{std::span<NodeId>()};
  arena.give_pages(none, std::span<NodeId>());
  CHECK(std::count(small.begin(), small.end(), 7U) == 1000);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
