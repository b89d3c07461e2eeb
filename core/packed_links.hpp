#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

/// What the distributions of a TransitionMatrixBuilder have in common.
namespace pagerank {

/// Turns counts into where each begins, from `begin` on. Returns where the last ends.
template <class Count>
Count counts_to_begins(std::span<Count> counts, Count begin) {
  for (Count& count : counts) begin += std::exchange(count, begin);
  return begin;
}

/// Calls body with wide and weighted as constants.
template <class Body>
decltype(auto) with_constants(bool wide, bool weighted, Body body) {
  if (wide) {
    return weighted ? body(std::true_type{}, std::true_type{})
                    : body(std::true_type{}, std::false_type{});
  }
  return weighted ? body(std::false_type{}, std::true_type{})
                  : body(std::false_type{}, std::false_type{});
}

/// A link of 32 bits, or of 48 if `wide`, of any struct with arrays `low` and `high`.
template <bool wide, class Links>
std::uint64_t load_link(const Links& links, std::size_t i) {
  if constexpr (wide) return links.low[i] | std::uint64_t{links.high[i]} << 32;
  return links.low[i];
}

template <bool wide, class Links>
void store_link(const Links& links, std::size_t i, std::uint64_t packed) {
  links.low[i] = static_cast<std::uint32_t>(packed);
  if constexpr (wide) links.high[i] = static_cast<std::uint16_t>(packed >> 32);
}

}  // namespace pagerank
