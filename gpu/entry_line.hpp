#pragma once

#include <cstdint>

#include "core/characters.hpp"
#include "core/types.hpp"
#include "gpu/decimal_value.hpp"
#include "gpu/entry_source.hpp"

/// One line of a graph in text, as the GPU reads it: what nearly all lines are, and nothing in
/// doubt. Lines are followed by a newline and as much memory as load_eight() asks for.
namespace pagerank::gpu {

/// Whether the line at `at` holds an entry, or what should be one: it is not blank nor a comment.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool holds_entry(const char* at,
                                                           const EntryFormat& format) {
  while (is_blank(*at)) ++at;
  return *at != '\n' && *at != '%' && !(format.hash_comments && *at == '#');
}

namespace detail {

/// Longer runs of blanks and digits are left to the host, so that no thread has to read far.
constexpr int longest_run = 64;

/// Moves to the next character that is no blank, if it is near.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool skip_blanks(const char*& at) {
  for (int i = 0; i < longest_run; ++i, ++at) {
    if (!is_blank(*at)) return true;
  }
  return false;
}

/// Reads a number of 1 to 20 digits, below 2^64.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool read_number(const char*& at, std::uint64_t& value) {
  const Digits digits = leading_digits(load_digits(at));
  if (digits.count == 0) return false;
  value = digits.value;
  at += digits.count;
  if (digits.count < 8) return true;
  const Digits more = leading_digits(load_digits(at));
  if (more.count == 0) return true;
  for (int i = 0; i < more.count; ++i) value *= 10;
  value += more.value;
  at += more.count;
  if (more.count < 8) return true;
  for (int last = 0; is_digit(*at); ++at) {
    const auto digit = static_cast<unsigned>(*at - '0');
    if (++last > 4 || value > (~std::uint64_t{0} - digit) / 10) return false;
    value = value * 10 + digit;
  }
  return true;
}

/// Reads what an entry's row or column is.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool read_end(const char*& at, const EntryFormat& format,
                                                        std::uint64_t& end) {
  if (!read_number(at, end)) return false;
  if (format.labelled) return true;
  --end;
  return end < format.node_count;
}

/// Passes over a number without sign or fraction.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool skip_number(const char*& at) {
  const char* const begin = at;
  while (is_digit(*at) && at - begin < longest_run) ++at;
  return at != begin;
}

/// The digits of a decimal number as they are read.
struct Decimal {
  std::uint64_t mantissa = 0;
  int significant = 0;  ///< Digits of it.
  int digits = 0;       ///< With leading zeros.

  /// Appends the digits at `at`; returns how many there were, or -1 for too many.
  [[nodiscard]] PAGERANK_HOST_DEVICE int read_digits(const char*& at) {
    constexpr int most_significant = 19;  // any number of those is below 2^64
    const int before = digits;
    for (; is_digit(*at); ++at) {
      if (significant == most_significant || digits == longest_run) return -1;
      mantissa = mantissa * 10 + static_cast<unsigned>(*at - '0');
      significant += mantissa != 0;
      ++digits;
    }
    return digits - before;
  }
};

/// Reads the exponent behind an 'e', of up to four digits.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool read_exponent(const char*& at, int& exponent) {
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  int value = 0, digits = 0;
  for (; is_digit(*at); ++at) {
    if (++digits > 4) return false;
    value = value * 10 + (*at - '0');
  }
  exponent += negative ? -value : value;
  return digits > 0;
}

/// Reads a number without a sign; `whole`: of digits only.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool read_weight(const char*& at, bool whole,
                                                           double& weight) {
  Decimal decimal;
  int exponent = 0;
  if (decimal.read_digits(at) < 0) return false;
  if (!whole && *at == '.') {
    const int fraction = decimal.read_digits(++at);
    if (fraction < 0) return false;
    exponent = -fraction;
  }
  if (decimal.digits == 0) return false;
  if (!whole && (*at == 'e' || *at == 'E')) {
    if (!read_exponent(++at, exponent)) return false;
  }
  return decimal_value(decimal.mantissa, exponent, weight);
}

}  // namespace detail

/// Reads the entry on the line at `at`, weight 1 where the format has none. False for a line that
/// the host has to look at: it is bad, or written in a way that is not worth the GPU's code.
[[nodiscard]] PAGERANK_HOST_DEVICE inline bool parse_entry_line(const char* at,
                                                                const EntryFormat& format,
                                                                ParsedEntry& entry) {
  if (!detail::skip_blanks(at) || !detail::read_end(at, format, entry.row)) return false;
  if (!is_blank(*at) || !detail::skip_blanks(at) || !detail::read_end(at, format, entry.column)) {
    return false;
  }
  entry.weight = 1;
  if (format.weights != EntryFormat::Weights::none) {
    const bool whole = format.weights == EntryFormat::Weights::whole;
    if (!is_blank(*at) || !detail::skip_blanks(at) ||
        !detail::read_weight(at, whole, entry.weight)) {
      return false;
    }
  }
  if (format.timed && (!is_blank(*at) || !detail::skip_blanks(at) || !detail::skip_number(at))) {
    return false;
  }
  return detail::skip_blanks(at) && *at == '\n';
}

}  // namespace pagerank::gpu
