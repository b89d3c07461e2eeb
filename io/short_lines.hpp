#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/characters.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/// The lines that most graphs are made of, "i j\n" and "i j w\n" of numbers of few digits. Where
/// numbers end is found for 64 characters at once, so that no number waits for the one before it
/// (as simdjson does it: G. Langdale and D. Lemire, Parsing gigabytes of JSON per second, VLDB
/// Journal 28, 2019), the lines within them are read together, and whether they have the form that
/// was supposed is asked once, when all is read: a processor guesses no branch. All other lines are
/// for usual_numbers.hpp and LineFields. For little-endian processors.
namespace pagerank::io::usual {

constexpr std::ptrdiff_t window = 64;

/// As many characters can be read in front of a number's end.
constexpr std::ptrdiff_t longest_number = 8;

/// Of 64 characters, bit i for the i-th.
struct Window {
  std::uint64_t others;    ///< Those that are no digits,
  std::uint64_t newlines;  ///< and of them these.
};

/// By what GCC and Clang make of vectors on any processor,
[[gnu::always_inline]] inline Window look_by_vectors(const char* at) {
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
  using Words = std::uint64_t __attribute__((vector_size(16)));
  // One bit of each byte that is all ones, added up in the highest one.
  const auto bits = [](auto ones) __attribute__((always_inline)) {
    const Bytes places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const auto words = std::bit_cast<Words>(std::bit_cast<Bytes>(ones) & places);
    const auto sum = [](std::uint64_t word) { return word * 0x0101010101010101 >> 56; };
    return sum(words[0]) | sum(words[1]) << 8;
  };
  Window found{};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Bytes text;
    std::memcpy(&text, at + std::ptrdiff_t{16} * i, sizeof text);
    found.others |= bits(text - '0' > 9) << (16 * i);
    found.newlines |= bits(text == '\n') << (16 * i);
  }
  return found;
}

/// and by the instruction for that where there is one.
[[gnu::always_inline]] inline Window look(const char* at) {
#if defined(__x86_64__)
  std::array<std::uint64_t, 4> digits, newlines;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
    // Signed: digits become -128 .. -119, all else is greater.
    const __m128i moved = _mm_add_epi8(text, _mm_set1_epi8(static_cast<char>(0x80 - '0')));
    const __m128i digit = _mm_cmplt_epi8(moved, _mm_set1_epi8(-128 + 10));
    const __m128i newline = _mm_cmpeq_epi8(text, _mm_set1_epi8('\n'));
    digits[i] = std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(digit))} << (16 * i);
    newlines[i] = std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(newline))} << (16 * i);
  }
  return {~(digits[0] | digits[1] | digits[2] | digits[3]),
          newlines[0] | newlines[1] | newlines[2] | newlines[3]};
#else
  return look_by_vectors(at);
#endif
}

/// A number of `count` digits, 0 to 8; other counts are read as some number.
struct Field {
  const char* end;
  std::uint64_t count;

  /// Which bytes of eight are the last `count`.
  [[gnu::always_inline, nodiscard]] const std::uint64_t* mask() const {
    static constexpr std::array<std::uint64_t, 16> masks = {0,
                                                            0xFF00000000000000,
                                                            0xFFFF000000000000,
                                                            0xFFFFFF0000000000,
                                                            0xFFFFFFFF00000000,
                                                            0xFFFFFFFFFF000000,
                                                            0xFFFFFFFFFFFF0000,
                                                            0xFFFFFFFFFFFFFF00,
                                                            0xFFFFFFFFFFFFFFFF};
    return &masks[count & 15];
  }
};

using Four = std::int32_t __attribute__((vector_size(16)));
using TwoDoubles = double __attribute__((vector_size(16)));

#if defined(__x86_64__)
/// The values of the first four and the last four digits of two fields.
[[gnu::always_inline]] inline __m128i fours_of(Field a, Field b) {
  const auto pair = [](const void* low, const void* high) __attribute__((always_inline)) {
    const __m128i one = _mm_loadl_epi64(static_cast<const __m128i*>(low));
    const __m128i two = _mm_loadl_epi64(static_cast<const __m128i*>(high));
    return _mm_unpacklo_epi64(one, two);
  };
  const __m128i text = pair(a.end - longest_number, b.end - longest_number);
  const __m128i digits =
      _mm_and_si128(_mm_subs_epu8(text, _mm_set1_epi8('0')), pair(a.mask(), b.mask()));
  // As value_of_eight(): neighbours are joined to pairs, and pairs to fours.
  __m128i one_and_ten = _mm_set1_epi16(1 + (10 << 8));
  asm("" : "+x"(one_and_ten));  // else its product is made of shifts and sums, which take longer
  const __m128i pairs = _mm_srli_epi16(_mm_mullo_epi16(digits, one_and_ten), 8);
  return _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
}
#endif

/// The values of four fields.
[[gnu::always_inline]] inline Four values_of(Field a, Field b, Field c, Field d) {
#if defined(__x86_64__)
  const __m128i fours = _mm_packs_epi32(fours_of(a, b), fours_of(c, d));
  return std::bit_cast<Four>(_mm_madd_epi16(fours, _mm_set1_epi32(10'000 | 1 << 16)));
#else
  const auto value = [](Field field) {
    return static_cast<std::int32_t>(
        value_of_eight(load_digits(field.end - longest_number) & *field.mask()));
  };
  return Four{value(a), value(b), value(c), value(d)};
#endif
}

/// Which ids there may be, and what the least of them is held as 0 for.
struct IdRange {
  std::int32_t least = 0;
  std::int32_t count = 100'000'000;  ///< All of eight digits are below.
};

/// Where the numbers of lines go: three more of each can be written than are read.
template <class Id>
struct LineNumbers {
  Id* first;
  Id* second;
  double* weights;
};

/// Writes the ids of two lines, which stand in `ids` one line after the other.
template <class Id>
[[gnu::always_inline]] inline void write_ids(Four ids, Id* first, Id* second) {
  const Four by_column = __builtin_shufflevector(ids, ids, 0, 2, 1, 3);
  if constexpr (sizeof(Id) == sizeof(std::int32_t)) {
    std::memcpy(first, &by_column, 2 * sizeof(Id));
    std::memcpy(second, reinterpret_cast<const char*>(&by_column) + 2 * sizeof(Id), 2 * sizeof(Id));
  } else {
    const Four firsts = __builtin_shufflevector(by_column, Four{}, 0, 4, 1, 4);
    const Four seconds = __builtin_shufflevector(by_column, Four{}, 2, 4, 3, 4);
    std::memcpy(first, &firsts, sizeof firsts);
    std::memcpy(second, &seconds, sizeof seconds);
  }
}

[[gnu::always_inline]] inline TwoDoubles first_two(Four numbers) {
#if defined(__x86_64__)
  return _mm_cvtepi32_pd(std::bit_cast<__m128i>(numbers));
#else
  return TwoDoubles{static_cast<double>(numbers[0]), static_cast<double>(numbers[1])};
#endif
}

/// The values integer.fraction of two lines, of which `numbers` holds first the integers, then the
/// fractions, these of up to 7 digits. As decimal(): exact but for one division.
[[gnu::always_inline]] inline TwoDoubles decimals(Four numbers, std::uint64_t digits0,
                                                  std::uint64_t digits1) {
  static constexpr std::array<double, 8> powers = {1,      10,      100,       1'000,
                                                   10'000, 100'000, 1'000'000, 10'000'000};
  const TwoDoubles power = {powers[digits0 & 7], powers[digits1 & 7]};
  return (first_two(numbers) * power +
          first_two(__builtin_shufflevector(numbers, numbers, 2, 3, 2, 3))) /
         power;
}

/// The fields of lines: two ids and, of weighted ones, the digits before and behind a weight's
/// point. An even number, of which the last may be there twice.
template <int lines, bool weighted>
using Fields = std::array<std::array<Field, weighted ? 4 : 2>, std::size_t{lines + 1} / 2 * 2>;

/// Finds the fields of `lines` lines, whose newlines are among those of the window at `at`. Returns
/// how many characters they take, 0 if one of them is of another form.
template <int lines, bool weighted>
[[gnu::always_inline]] inline std::uint64_t find_fields(const char* at, Window found,
                                                        bool whole_weights,
                                                        Fields<lines, weighted>& fields) {
  static constexpr auto ends_no_id = [] {  // 8 for what does not
    std::array<std::uint8_t, 256> table{};
    for (std::uint8_t& entry : table) entry = 8;
    table[' '] = table['\t'] = 0;
    return table;
  }();
  const auto ends = [at](std::uint64_t i) __attribute__((always_inline)) {
    return std::uint64_t{ends_no_id[static_cast<unsigned char>(at[i])]};
  };
  const auto place = [](std::uint64_t bits) __attribute__((always_inline)) {
    return static_cast<std::uint64_t>(__builtin_ctzll(bits));
  };
  const std::uint64_t point_in_whole = whole_weights ? 8 : 0;

  std::uint64_t newlines = found.newlines, others = found.others & ~(weighted ? 0 : newlines);
  std::uint64_t begin = 0;
  std::uint64_t wrong = 0, misplaced = 0;  // Of another form: from 8 on, not 0.
#pragma GCC unroll 4
  for (int i = 0; i < lines; ++i) {
    const std::uint64_t end = place(newlines);
    std::uint64_t left = others;  // of the line, up to its newline, where it has a weight
    if constexpr (weighted) {
      left &= newlines ^ (newlines - 1);
      others ^= left;
    }
    if (left == 0) return 0;
    const std::uint64_t end1 = place(left);
    left &= left - 1;
    std::uint64_t end2 = end;
    if constexpr (weighted) {
      if (left == 0) return 0;
      end2 = place(left);
      left &= left - 1;
      if (left == 0) return 0;
      const std::uint64_t end3 = place(left);
      const std::uint64_t point = at[end3] == '.' ? 1 : 0;
      left &= left - point;
      misplaced |= left ^ (newlines & (0 - newlines));
      fields[i][2] = {at + end3, end3 - end2 - 1};
      fields[i][3] = {at + end, end - end3 - point};
      wrong |= ends(end2) | (fields[i][2].count - 1) | fields[i][3].count |
               (point_in_whole & (0 - point));
    } else {
      others = left;
    }
    fields[i][0] = {at + end1, end1 - begin};
    fields[i][1] = {at + end2, end2 - end1 - 1};
    wrong |= ends(end1) | (fields[i][0].count - 1) | (fields[i][1].count - 1);
    newlines &= newlines - 1;
    begin = end + 1;
  }
  if constexpr (!weighted) misplaced = others & ((std::uint64_t{1} << (begin - 1)) - 1);
  if constexpr (lines % 2 == 1) fields[lines] = fields[lines - 1];
  return wrong < 8 && misplaced == 0 ? begin : 0;
}

/// Writes what stands in the fields of lines. False if an id is out of its range.
template <int lines, bool weighted, class Id>
[[gnu::always_inline]] inline bool write_values(const Fields<lines, weighted>& fields,
                                                IdRange range, LineNumbers<Id> to) {
  Four outside{};  // Top bits.
#pragma GCC unroll 2
  for (int i = 0; i < lines; i += 2) {
    const auto &one = fields[i], &two = fields[i + 1];
    Four ids;
    if constexpr (weighted) {
      const Four values1 = values_of(one[0], one[1], one[2], one[3]);
      const Four values2 = values_of(two[0], two[1], two[2], two[3]);
      ids = __builtin_shufflevector(values1, values2, 0, 1, 4, 5);
      const TwoDoubles weights = decimals(__builtin_shufflevector(values1, values2, 2, 6, 3, 7),
                                          one[3].count, two[3].count);
      std::memcpy(to.weights + i, &weights, sizeof weights);
    } else {
      ids = values_of(one[0], one[1], two[0], two[1]);
    }
    ids -= range.least;
    outside |= ids | ~(ids - range.count);
    write_ids(ids, to.first + i, to.second + i);
  }
  using Two = std::uint64_t __attribute__((vector_size(16)));
  const auto halves = std::bit_cast<Two>(outside);
  return ((halves[0] | halves[1]) & 0x8000000080000000) == 0;
}

/// Reads the lines that a window begins with, as many as most windows hold, and moves behind them.
/// Returns how many; 0 if one of them is of another form: what was written is void then.
template <bool weighted, class Id>
[[gnu::always_inline]] inline int read_window(const char*& at, IdRange range, bool whole_weights,
                                              LineNumbers<Id> to) {
  const Window found = look(at);
  if (found.newlines == 0) return 0;
  const auto read = [&](auto lines) __attribute__((always_inline)) {
    Fields<lines, weighted> fields;
    const std::uint64_t characters = find_fields<lines, weighted>(at, found, whole_weights, fields);
    if (characters == 0 || !write_values<lines, weighted>(fields, range, to)) return 0;
    at += characters;
    return int{lines};
  };
  const std::uint64_t after_first = found.newlines & (found.newlines - 1);
  const std::uint64_t after_second = after_first & (after_first - 1);
  const std::uint64_t after_third = after_second & (after_second - 1);
  if constexpr (weighted) {
    if (after_first != 0) return read(std::integral_constant<int, 2>{});
  } else {
    if (after_third != 0) return read(std::integral_constant<int, 4>{});
    if (after_second != 0) return read(std::integral_constant<int, 3>{});
  }
  return read(std::integral_constant<int, 1>{});
}

/// Reads short lines as long as there are, and a window of characters in front of `end`. Returns
/// how many.
template <bool weighted, class Id>
std::uint64_t read_lines(const char*& at, const char* end, IdRange range, bool whole_weights,
                         LineNumbers<Id> to) {
  std::uint64_t read = 0;
  const char* next = at;  // a copy, which stays in a register
  while (end - next >= window) {
    const int lines = read_window<weighted, Id>(
        next, range, whole_weights,
        {to.first + read, to.second + read, weighted ? to.weights + read : nullptr});
    if (lines == 0) break;
    read += static_cast<std::uint64_t>(lines);
  }
  at = next;
  return read;
}

}  // namespace pagerank::io::usual
