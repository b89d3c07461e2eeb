#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "core/characters.hpp"
#include "io/line_fields.hpp"

/// The numbers that nearly all lines of a graph are made of, plain decimal digits, eight characters
/// at a time. What has any other form is left to LineFields. For little-endian processors.
namespace pagerank::io::usual {

/// Reads a number of 1 to 10 digits at the front of at least 16 characters and moves behind it.
/// Returns false if there is none.
[[gnu::always_inline]] inline bool read_index(const char*& at, std::uint64_t& value) {
  const Digits digits = leading_digits(load_digits(at));
  value = digits.value;
  at += digits.count;
  if (digits.count == 8) [[unlikely]] {
    for (int more = 0; is_digit(*at); ++at) {
      if (++more > 2) return false;
      value = value * 10 + static_cast<unsigned char>(*at - '0');
    }
  }
  return digits.count != 0;
}

/// Reads a number of 1 to 20 digits, below 2^64, at the front of at least 32 characters and moves
/// behind it. Returns false if there is none.
[[gnu::always_inline]] inline bool read_id(const char*& at, std::uint64_t& value) {
  const Digits digits = leading_digits(load_digits(at));
  value = digits.value;
  at += digits.count;
  if (digits.count == 8) {
    static constexpr std::array<std::uint64_t, 9> powers = {
        1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    const Digits more = leading_digits(load_digits(at));
    if (more.count != 0) value = value * powers[static_cast<std::size_t>(more.count)] + more.value;
    at += more.count;
    if (more.count == 8) {
      for (int last = 0; is_digit(*at); ++at) {
        const auto digit = static_cast<unsigned char>(*at - '0');
        if (++last > 4 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
          return false;
        }
      }
    }
  }
  return digits.count != 0;
}

/// integer.fraction, the latter of 1 to 7 digits, the former of 8 at most. Exact: numbers below
/// 10^15 and powers of ten to 10^7 are doubles, and one division rounds once.
[[gnu::always_inline]] inline double decimal(std::uint64_t integer, std::uint64_t fraction,
                                             unsigned fraction_digits) {
  struct Power {
    std::uint64_t whole;
    double real;
  };
  static constexpr std::array<Power, 8> powers = {{{1, 1},
                                                   {10, 10},
                                                   {100, 100},
                                                   {1'000, 1'000},
                                                   {10'000, 10'000},
                                                   {100'000, 100'000},
                                                   {1'000'000, 1'000'000},
                                                   {10'000'000, 10'000'000}}};
  const Power& power = powers[fraction_digits];
  // Signed, for processors turn those into floating point faster.
  return static_cast<double>(static_cast<std::int64_t>(integer * power.whole + fraction)) /
         power.real;
}

/// Reads digits[.digits], at most eight and seven of them, at the front of at least 24 characters.
[[gnu::always_inline]] inline bool read_short_decimal(const char*& at, double& value) {
  const Digits before = leading_digits(load_digits(at));
  if (before.count == 0) return false;
  const char* next = at + before.count;
  if (*next != '.') {
    value = static_cast<double>(static_cast<std::int64_t>(before.value));
    at = next;
    return !is_digit(*next) && *next != 'e' && *next != 'E';
  }
  const Digits after = leading_digits(load_digits(++next));
  next += after.count;
  if (after.count == 0 || after.count == 8 || *next == 'e' || *next == 'E') return false;
  value = decimal(before.value, after.value, static_cast<unsigned>(after.count));
  at = next;
  return true;
}

/// Reads a number that begins with a digit as std::from_chars does, or returns false.
inline bool read_long_decimal(const char*& at, const char* end, double& value) {
  if (!is_digit(*at)) return false;
  const auto [parsed, error] = std::from_chars(at, end, value);
  at = parsed;
  return error == std::errc{};
}

/// Reads a weight that begins with a digit, or returns false. What ends it is for the caller to
/// see.
[[gnu::always_inline]] inline bool read_weight(const char*& at, const char* end, bool whole,
                                               double& value) {
  const char* next = at;
  if (read_short_decimal(next, value)) {
    if (whole && std::find(at, next, '.') != next) return false;
  } else {
    next = at;
    if (whole || !read_long_decimal(next, end, value)) return false;
  }
  at = next;
  return true;
}

}  // namespace pagerank::io::usual
