#pragma once

#include "io/short_lines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

/// Short lines as in short_lines.hpp, for processors with AVX-512 and its byte permutations (VBMI
/// and VBMI2: Intel's since Ice Lake, AMD's since Zen 4). One instruction packs the places of all
/// that is no digit, one more brings eight numbers together, which are evaluated at once: those of
/// four lines, or of two with weights.
namespace pagerank::io::usual::avx512 {

// GCC 12 warns of how its own header spells values that do not matter.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define PAGERANK_AVX512 gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2")

[[nodiscard]] inline bool is_supported() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vbmi") != 0 &&
         __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}

/// What every window is worked on with.
struct Constants {
  __m512i zeros = _mm512_set1_epi8('0'), tens = _mm512_set1_epi8(10);
  __m512i newlines = _mm512_set1_epi8('\n'), points = _mm512_set1_epi8('.');
  __m128i spaces = _mm_set1_epi8(' '), tabs = _mm_set1_epi8('\t');
  __m512i places;      ///< Byte i: i.
  __m512i number_of;   ///< Byte j of the i-th of eight numbers: i,
  __m512i before_end;  ///< 8 - j.
  __m512i pairs = _mm512_set1_epi16(10 | 1 << 8), fours = _mm512_set1_epi32(100 | 1 << 16);
  __m256i eights = _mm256_set1_epi32(10'000 | 1 << 16);
  __m256i least_id, id_count;

  [[PAGERANK_AVX512, gnu::always_inline]] explicit Constants(IdRange range)
      : least_id(_mm256_set1_epi32(range.least)), id_count(_mm256_set1_epi32(range.count)) {
    std::array<std::uint8_t, 64> bytes;
    for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(i);
    std::memcpy(&places, bytes.data(), sizeof places);
    for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(i / 8);
    std::memcpy(&number_of, bytes.data(), sizeof number_of);
    for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(8 - i % 8);
    std::memcpy(&before_end, bytes.data(), sizeof before_end);
    // There are registers for all of them. A compiler that knows their values makes them anew each
    // time instead.
    asm("" : "+v"(zeros), "+v"(tens), "+v"(newlines), "+v"(points), "+v"(spaces), "+v"(tabs));
    asm("" : "+v"(places), "+v"(number_of), "+v"(before_end));
    asm("" : "+v"(pairs), "+v"(fours), "+v"(eights));
  }
};

[[PAGERANK_AVX512, gnu::always_inline]] inline __m128i low_sixteen(__m512i bytes) {
  return _mm512_castsi512_si128(bytes);
}

/// 64 characters, and the places of those that are no digits, in order.
struct Characters {
  __m512i text;
  std::uint64_t others;
  __m512i places;
};
[[PAGERANK_AVX512, gnu::always_inline]] inline Characters look(const char* at,
                                                               const Constants& with) {
  const __m512i text = _mm512_loadu_si512(at);
  const std::uint64_t others = _mm512_cmpge_epu8_mask(_mm512_sub_epi8(text, with.zeros), with.tens);
  // Not the form that zeroes the rest: a Zen 5 has that wait for what the register held before.
  return {text, others, _mm512_mask_compress_epi8(with.places, others, with.places)};
}

/// Eight numbers, in the first eight bytes.
struct Numbers {
  __m128i ends;    ///< Places of the characters behind them.
  __m128i counts;  ///< Of their digits.
};

/// Numbers between these ends, the first from 0 on, where `between` characters lie between the end
/// of a number and the beginning of the next (before the first: 1).
[[PAGERANK_AVX512, gnu::always_inline]] inline Numbers numbers_to(__m128i ends, __m128i between) {
  const __m128i ends_before = _mm_or_si128(_mm_slli_si128(ends, 1), _mm_cvtsi32_si128(0xFF));
  return {ends, _mm_sub_epi8(_mm_sub_epi8(ends, ends_before), between)};
}

/// Their values, of up to 8 digits each.
[[PAGERANK_AVX512, gnu::always_inline]] inline __m256i values_of(__m512i text,
                                                                 const Numbers& numbers,
                                                                 const Constants& with) {
  const __m512i ends =
      _mm512_permutexvar_epi8(with.number_of, _mm512_castsi128_si512(numbers.ends));
  const __m512i counts =
      _mm512_permutexvar_epi8(with.number_of, _mm512_castsi128_si512(numbers.counts));
  const __m512i digits = _mm512_maskz_permutexvar_epi8(
      _mm512_cmpge_epu8_mask(counts, with.before_end), _mm512_sub_epi8(ends, with.before_end),
      _mm512_sub_epi8(text, with.zeros));
  // Neighbours are joined to pairs, pairs to fours, fours to eight.
  const __m512i pairs = _mm512_maddubs_epi16(digits, with.pairs);
  const __m512i fours = _mm512_madd_epi16(pairs, with.fours);
  return _mm256_madd_epi16(_mm512_cvtepi32_epi16(fours), with.eights);
}

/// Bit i for the i-th of eight: whether the number has `least` to `least` + 7 digits.
[[PAGERANK_AVX512, gnu::always_inline]] inline unsigned are_short(const Numbers& numbers,
                                                                  __m128i least) {
  return _mm_cmplt_epu8_mask(_mm_sub_epi8(numbers.counts, least), _mm_set1_epi8(8));
}

/// What stands behind numbers: newlines, and what ends an id.
struct Ends {
  unsigned newlines, blanks;
};
[[PAGERANK_AVX512, gnu::always_inline]] inline Ends ends_of(__m512i text, __m128i ends,
                                                            const Constants& with) {
  const __m128i characters =
      low_sixteen(_mm512_permutexvar_epi8(_mm512_castsi128_si512(ends), text));
  return {.newlines = _mm_cmpeq_epi8_mask(characters, low_sixteen(with.newlines)),
          .blanks = unsigned{_mm_cmpeq_epi8_mask(characters, with.spaces)} |
                    _mm_cmpeq_epi8_mask(characters, with.tabs)};
}

/// As read_window() of short_lines.hpp, of lines without weights.
template <class Id>
[[PAGERANK_AVX512, gnu::always_inline]] inline int read_pattern_window(const char*& at,
                                                                       const Constants& with,
                                                                       LineNumbers<Id> to) {
  const Characters found = look(at, with);
  int lines = 4;
  std::uint64_t last_newline = _pdep_u64(std::uint64_t{1} << (2 * 4 - 1), found.others);
  if (last_newline == 0) {
    lines = std::popcount(found.others) / 2;
    if (lines == 0) return 0;
    last_newline = _pdep_u64(std::uint64_t{1} << (2 * lines - 1), found.others);
  }
  const __m128i ones = _mm_set1_epi8(1);
  const Numbers numbers = numbers_to(low_sixteen(found.places), ones);
  const Ends ends = ends_of(found.text, numbers.ends, with);
  const __m256i ids = _mm256_sub_epi32(values_of(found.text, numbers, with), with.least_id);
  const unsigned right = are_short(numbers, ones) & _mm256_cmplt_epu32_mask(ids, with.id_count) &
                         ((ends.blanks & 0x55) | (ends.newlines & 0xAA));
  const unsigned read = (1U << (2 * lines)) - 1;
  if ((read & ~right) != 0) return 0;
  const __m256i by_column =
      _mm256_permutevar8x32_epi32(ids, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
  const __m128i first = _mm256_castsi256_si128(by_column);
  const __m128i second = _mm256_extracti128_si256(by_column, 1);
  if constexpr (sizeof(Id) == sizeof(std::uint32_t)) {
    std::memcpy(to.first, &first, sizeof first);
    std::memcpy(to.second, &second, sizeof second);
  } else {
    const __m256i wide_first = _mm256_cvtepu32_epi64(first);
    const __m256i wide_second = _mm256_cvtepu32_epi64(second);
    std::memcpy(to.first, &wide_first, sizeof wide_first);
    std::memcpy(to.second, &wide_second, sizeof wide_second);
  }
  at += _tzcnt_u64(last_newline) + 1;
  return lines;
}

/// The numbers of two weighted lines, by whether they have points. Where there is none, what would
/// stand behind it ends where the number does, and has no digit.
struct WeightedFields {
  std::array<std::uint8_t, 8> ends;     ///< Which of what is no digit.
  std::array<std::uint8_t, 8> between;  ///< As numbers_to() has it.
};
constexpr WeightedFields weighted_fields(std::uint8_t point1, std::uint8_t point2) {
  const auto newline1 = static_cast<std::uint8_t>(2 + point1);
  const auto behind = [newline1](int i) { return static_cast<std::uint8_t>(newline1 + i); };
  return {{0, 1, 2, newline1, behind(1), behind(2), behind(3), behind(3 + point2)},
          {1, 1, 1, point1, 1, 1, 1, point2}};
}
inline constexpr std::array<WeightedFields, 4> all_weighted_fields = {
    weighted_fields(0, 0), weighted_fields(1, 0), weighted_fields(0, 1), weighted_fields(1, 1)};

/// The same of lines with weights.
template <class Id>
[[PAGERANK_AVX512, gnu::always_inline]] inline int read_weighted_window(const char*& at,
                                                                        const Constants& with,
                                                                        bool whole_weights,
                                                                        LineNumbers<Id> to) {
  const Characters found = look(at, with);
  const std::uint64_t newlines = _mm512_cmpeq_epi8_mask(found.text, with.newlines);
  const std::uint64_t points = _mm512_cmpeq_epi8_mask(found.text, with.points);
  if (newlines == 0) return 0;
  const std::uint64_t after_first = newlines & (newlines - 1);
  const std::uint64_t first_line = newlines ^ (newlines - 1);
  const std::uint64_t both_lines = after_first ^ (after_first - 1);
  const unsigned point1 = (points & first_line) != 0 ? 1 : 0;
  const unsigned point2 = (points & both_lines & ~first_line) != 0 ? 1 : 0;
  const WeightedFields& fields = all_weighted_fields[point1 | point2 << 1];
  const auto load = [](const std::array<std::uint8_t, 8>& eight) __attribute__((always_inline)) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(eight.data()));
  };
  const Numbers numbers = numbers_to(
      low_sixteen(_mm512_permutexvar_epi8(_mm512_castsi128_si512(load(fields.ends)), found.places)),
      load(fields.between));
  const Ends ends = ends_of(found.text, numbers.ends, with);
  const __m256i values = values_of(found.text, numbers, with);
  const __m256i ids = _mm256_sub_epi32(values, with.least_id);
  // Behind a point there may be no digit.
  const unsigned right = are_short(numbers, _mm_cvtsi64_si128(0x0001010100010101)) &
                         (_mm256_cmplt_epu32_mask(ids, with.id_count) | 0xCC) &
                         ((ends.blanks & 0x33) | 0x44 | (ends.newlines & 0x88));
  const int lines = after_first != 0 ? 2 : 1;
  const unsigned read = lines == 2 ? 0xFF : 0x0F;
  if ((read & ~right) != 0 || (whole_weights && (points & both_lines) != 0)) return 0;

  const Four by_column = std::bit_cast<Four>(_mm256_castsi256_si128(
      _mm256_permutevar8x32_epi32(ids, _mm256_setr_epi32(0, 1, 4, 5, 0, 0, 0, 0))));
  write_ids(by_column, to.first, to.second);
  const Four decimal_parts = std::bit_cast<Four>(_mm256_castsi256_si128(
      _mm256_permutevar8x32_epi32(values, _mm256_setr_epi32(2, 6, 3, 7, 0, 0, 0, 0))));
  const auto counts = static_cast<std::uint64_t>(_mm_cvtsi128_si64(numbers.counts));
  const TwoDoubles weights = decimals(decimal_parts, counts >> 24 & 0xFF, counts >> 56);
  std::memcpy(to.weights, &weights, sizeof weights);
  at += _tzcnt_u64(lines == 2 ? after_first : newlines) + 1;
  return lines;
}

/// As read_lines() of short_lines.hpp.
template <bool weighted, class Id>
[[PAGERANK_AVX512]] std::uint64_t read_lines(const char*& at, const char* end, IdRange range,
                                             bool whole_weights, LineNumbers<Id> to) {
  const Constants with(range);
  std::uint64_t read = 0;
  const char* next = at;
  while (end - next >= window) {
    const LineNumbers<Id> here = {to.first + read, to.second + read,
                                  weighted ? to.weights + read : nullptr};
    int lines = 0;
    if constexpr (weighted) {
      lines = read_weighted_window(next, with, whole_weights, here);
    } else {
      lines = read_pattern_window(next, with, here);
    }
    if (lines == 0) break;
    read += static_cast<std::uint64_t>(lines);
  }
  at = next;
  return read;
}

#undef PAGERANK_AVX512
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace pagerank::io::usual::avx512
#endif
