#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"

/// The characters that the text of a graph is made of: which are what, and decimal digits eight at
/// a time (for little-endian processors).
namespace pagerank {

/// Blanks between the fields of a line. '\r' is one, so that CRLF files need no care.
[[nodiscard]] PAGERANK_HOST_DEVICE constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

[[nodiscard]] PAGERANK_HOST_DEVICE constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Eight characters as a number whose lowest byte is the first. On the device up to seven more
/// behind them, and as many before them, must be there to be read.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t load_eight(const char* at) {
#ifdef __CUDA_ARCH__
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(address & ~std::uintptr_t{7});
  const auto shift = static_cast<unsigned>(address & 7) * 8;
  return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
#else
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}

/// Eight characters less '0' each: digits become 0 .. 9.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t load_digits(const char* at) {
  return load_eight(at) ^ 0x3030303030303030;
}

/// The top bit of each of the eight that is no digit, right up to the first such one; what lies
/// above it may be wrong.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t others_among(std::uint64_t word) {
  // Adding 0x76 carries into the top bit from 10 on, and into the next byte only from one that is
  // no digit.
  return ((word + 0x7676767676767676) | word) & 0x8080808080808080;
}

/// The value of eight digits: neighbours are joined to pairs, pairs to fours, fours to eight.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t value_of_eight(std::uint64_t word) {
  word = word * (1 + (10 << 8)) >> 8;
  word = (word & 0x00FF00FF00FF00FF) * (1 + (100 << 16)) >> 16;
  return (word & 0x0000FFFF0000FFFF) * (1 + (std::uint64_t{10'000} << 32)) >> 32;
}

/// The lowest bit that is set; some is.
[[nodiscard]] PAGERANK_HOST_DEVICE inline int lowest_bit(std::uint64_t word) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(word)) - 1;
#else
  return __builtin_ctzll(word);
#endif
}

/// The first digits of the eight: how many (0 .. 8), and their value.
struct Digits {
  int count;
  std::uint64_t value;
};
[[nodiscard, gnu::always_inline]] PAGERANK_HOST_DEVICE inline Digits leading_digits(
    std::uint64_t word) {
  const std::uint64_t others = others_among(word);
  if (others == 0) return {8, value_of_eight(word)};
  const int first_other = lowest_bit(others);  // its top bit: 8 * count + 7
  // What is not there reads as leading zeros; nothing at all stays as it is, and is not looked at.
  return {first_other / 8, value_of_eight(word << ((7 - first_other) & 63))};
}

}  // namespace pagerank
