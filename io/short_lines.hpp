#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/usual_numbers.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/// The lines that most graphs are made of, "i j\n" and "i j w\n" of numbers of few digits. Where
/// numbers end is found for 64 characters at once, so that no number waits for the one before it
/// (as simdjson does it: G. Langdale and D. Lemire, Parsing gigabytes of JSON per second, VLDB
/// Journal 28, 2019), and the numbers of a line are evaluated together. All other lines are for
/// usual_numbers.hpp and LineFields. For little-endian processors.
namespace pagerank::io::usual {

constexpr std::ptrdiff_t window = 64;

/// Bit i: the i-th of 64 characters is no digit. In plain C++, for any processor,
inline std::uint64_t others_in_window_by_words(const char* at) {
  std::uint64_t others = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t word = load_digits(at + std::ptrdiff_t{8} * i);
    // Without their top bits, which are or'ed in later, no byte carries into the next.
    const std::uint64_t tops =
        (((word & 0x7F7F7F7F7F7F7F7F) + 0x7676767676767676) | word) & 0x8080808080808080;
    others |= ((tops >> 7) * 0x0102040810204080 >> 56) << (8 * i);
  }
  return others;
}

/// and by wide instructions where there are any.
[[gnu::always_inline]] inline std::uint64_t others_in_window(const char* at) {
#if defined(__x86_64__)
  const auto digits_of_16 = [at](int i) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
    // Signed: digits become -128 .. -119, all else is greater.
    const __m128i moved = _mm_add_epi8(text, _mm_set1_epi8(static_cast<char>(0x80 - '0')));
    const __m128i digits = _mm_cmplt_epi8(moved, _mm_set1_epi8(-128 + 10));
    return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(digits))} << (16 * i);
  };
  return ~(digits_of_16(0) | digits_of_16(1) | digits_of_16(2) | digits_of_16(3));
#else
  return others_in_window_by_words(at);
#endif
}

/// A number of 1 to 8 digits; all eight characters can be read.
struct Field {
  const char* digits;
  unsigned count;

  /// The digits as the last of eight, and zero bytes before them.
  [[nodiscard]] std::uint64_t characters() const {
    std::uint64_t word = 0;
    std::memcpy(&word, digits, sizeof word);
    return word << (8 * (8 - count));
  }
};

#if defined(__x86_64__)
/// The values of the first four and the last four digits of two fields.
[[gnu::always_inline]] inline __m128i fours_of(const Field& a, const Field& b) {
  const __m128i text = _mm_set_epi64x(static_cast<long long>(b.characters()),
                                      static_cast<long long>(a.characters()));
  // As value_of_eight(): neighbours are joined to pairs, and pairs to fours. No digit stays 0.
  const __m128i digits = _mm_subs_epu8(text, _mm_set1_epi8('0'));
  const __m128i pairs = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(1 + (10 << 8))), 8);
  return _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
}
#endif

/// The values of four fields (or of two, given twice).
[[gnu::always_inline]] inline std::array<std::uint32_t, 4> values_of(const Field& a, const Field& b,
                                                                     const Field& c,
                                                                     const Field& d) {
#if defined(__x86_64__)
  const __m128i fours = _mm_packs_epi32(fours_of(a, b), fours_of(c, d));
  const __m128i eights = _mm_madd_epi16(fours, _mm_set1_epi32(10'000 | 1 << 16));
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  const auto high =
      static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(eights, eights)));
  return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
          static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
#else
  const auto value = [](const Field& field) {
    const std::uint64_t word = load_digits(field.digits) << (8 * (8 - field.count));
    return static_cast<std::uint32_t>(value_of_eight(word));
  };
  return {value(a), value(b), value(c), value(d)};
#endif
}

/// The lines of a window, one after the other.
class WindowLines {
 public:
  /// `at`: where a line begins. There are at least 8 characters behind the window.
  [[gnu::always_inline]] explicit WindowLines(const char* at)
      : at_(at), others_(others_in_window(at)) {}

  /// Reads the line and moves behind it. False if it is of another form, or the window ends first.
  template <bool weighted>
  [[gnu::always_inline]] bool next(bool whole_weights, std::uint32_t& first, std::uint32_t& second,
                                   double& weight) {
    const std::uint64_t after_first = others_ & (others_ - 1);
    if (after_first == 0) return false;
    const unsigned end1 = place(others_), end2 = place(after_first);
    const Field field1 = field(begin_, end1), field2 = field(end1 + 1, end2);
    const std::uint64_t after_second = after_first & (after_first - 1);
    if (((field1.count - 1) | (field2.count - 1)) >= 8 || !ends_id(end1)) return false;
    if constexpr (weighted) {
      return ends_id(end2) &&
             next_weight(field1, field2, end2, after_second, whole_weights, first, second, weight);
    }
    const auto values = values_of(field1, field2, field1, field2);
    first = values[0];
    second = values[1];
    begin_ = end2 + 1;
    others_ = after_second;
    return at_[end2] == '\n';
  }

  /// Where the next line begins.
  [[nodiscard]] const char* at() const { return at_ + begin_; }

 private:
  static unsigned place(std::uint64_t others) {
    return static_cast<unsigned>(__builtin_ctzll(others));
  }
  [[nodiscard]] Field field(unsigned begin, unsigned end) const {
    return {at_ + begin, end - begin};
  }
  [[nodiscard]] bool ends_id(unsigned end) const { return at_[end] == ' ' || at_[end] == '\t'; }

  /// Reads a weight as read_short_decimal() does, with the newline behind it, and evaluates all
  /// three numbers.
  [[gnu::always_inline]] bool next_weight(const Field& field1, const Field& field2, unsigned end2,
                                          std::uint64_t others, bool whole, std::uint32_t& first,
                                          std::uint32_t& second, double& weight) {
    if (others == 0) return false;
    const unsigned end3 = place(others);
    const Field integer = field(end2 + 1, end3);
    others &= others - 1;
    if (integer.count - 1 >= 8) return false;
    if (at_[end3] == '\n') {
      const auto values = values_of(field1, field2, integer, integer);
      first = values[0];
      second = values[1];
      weight = static_cast<double>(static_cast<std::int32_t>(values[2]));
      begin_ = end3 + 1;
      others_ = others;
      return true;
    }
    if (at_[end3] != '.' || others == 0 || whole) return false;
    const unsigned end4 = place(others);
    const Field fraction = field(end3 + 1, end4);
    if (fraction.count - 1 >= 7 || at_[end4] != '\n') return false;
    const auto values = values_of(field1, field2, integer, fraction);
    first = values[0];
    second = values[1];
    weight = decimal(values[2], values[3], fraction.count);
    begin_ = end4 + 1;
    others_ = others & (others - 1);
    return true;
  }

  const char* at_;
  std::uint64_t others_;  ///< Those not yet passed.
  unsigned begin_ = 0;    ///< Of the next line.
};

}  // namespace pagerank::io::usual
