// The numbers that the blocked layout is made with: without a GPU.
#include <doctest/doctest.h>

#include <initializer_list>

#include "gpu/blocked_shape.hpp"

namespace pagerank::gpu {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("a run's first link is known from its low 32 bits and its window's first") {
  constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
  for (const std::uint64_t window :
       {std::uint64_t{0}, wrap - 5, wrap, 3 * wrap + 7, 9 * wrap - 1}) {
    for (const std::uint64_t links_before : {std::uint64_t{0}, std::uint64_t{4}, wrap - 1}) {
      const std::uint64_t link = window + links_before;
      CHECK(first_link(static_cast<std::uint32_t>(link), window) == link);
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::gpu
