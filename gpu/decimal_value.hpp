#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"

namespace pagerank::gpu {

namespace detail {

__extension__ using Uint128 = unsigned __int128;

/// 2^exponent, of a normal double.
[[nodiscard]] PAGERANK_HOST_DEVICE inline double power_of_two(int exponent) {
  constexpr int bias = 1023, fraction_bits = 52;
  const std::uint64_t bits = static_cast<std::uint64_t>(bias + exponent) << fraction_bits;
  double power = 0;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

[[nodiscard]] PAGERANK_HOST_DEVICE inline int leading_zeros(std::uint64_t word) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(word));
#else
  return __builtin_clzll(word);
#endif
}

/// value * 2^exponent rounded to the nearest double, ties to even; `more`: what is meant is a
/// little larger than value, by less than 1. Value is not 0, and if `more`, not below 2^54.
[[nodiscard]] PAGERANK_HOST_DEVICE inline double round_to_double(Uint128 value, int exponent,
                                                                 bool more) {
  constexpr int mantissa_bits = 53;
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const int bits =
      high != 0 ? 128 - leading_zeros(high) : 64 - leading_zeros(static_cast<std::uint64_t>(value));
  const int drop = bits - mantissa_bits;
  if (drop <= 0) {
    return static_cast<double>(static_cast<std::uint64_t>(value)) * power_of_two(exponent);
  }
  auto kept = static_cast<std::uint64_t>(value >> drop);
  const Uint128 half = Uint128{1} << (drop - 1);
  const Uint128 dropped = value & ((half << 1) - 1);
  if (dropped > half || (dropped == half && (more || (kept & 1) != 0))) ++kept;
  return static_cast<double>(kept) * power_of_two(exponent + drop);
}

}  // namespace detail

/// value = mantissa * 10^exponent rounded to the nearest double, ties to even, where 128 bits are
/// enough for that; else false. What that is: a mantissa of at most 53 bits with an exponent
/// that 10^|exponent| is a double for needs one rounding (W. D. Clinger: How to Read Floating Point
/// Numbers Accurately, 1990), any other is exact in integers up to 5^27 < 2^63.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool decimal_value(std::uint64_t mantissa, int exponent,
                                                             double& value) {
  constexpr int most_of_double = 22, most_of_integers = 27;
  const int size = exponent < 0 ? -exponent : exponent;
  if (mantissa == 0) {
    value = 0;
    return true;
  }
  if (size > most_of_integers) return false;
  if (mantissa <= std::uint64_t{1} << 53 && size <= most_of_double) {
    double power = 1;
    for (int i = 0; i < size; ++i) power *= 10;  // exact
    value = static_cast<double>(mantissa);
    value = exponent < 0 ? value / power : value * power;
    return true;
  }
  std::uint64_t power_of_five = 1;
  for (int i = 0; i < size; ++i) power_of_five *= 5;
  if (exponent >= 0) {
    value = detail::round_to_double(detail::Uint128{mantissa} * power_of_five, exponent, false);
    return true;
  }
  const int shift = detail::leading_zeros(mantissa);
  const detail::Uint128 dividend = detail::Uint128{mantissa << shift} << 64;
  const detail::Uint128 quotient = dividend / power_of_five;
  value = detail::round_to_double(quotient, exponent - shift - 64,
                                  quotient * power_of_five != dividend);
  return true;
}

}  // namespace pagerank::gpu
