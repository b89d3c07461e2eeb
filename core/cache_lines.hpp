#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/// What BlockedSums does with numbers that lie in whole cache lines, with vector registers where
/// every processor has them (SSE2).
namespace pagerank::detail {

/// Numbers of a step below: a cache line of floats, two of doubles.
constexpr std::uint32_t in_step = 16;

/// Four ids by one load: loads are what the passes do most.
inline std::array<std::uint16_t, 4> four_ids(const std::uint16_t* ids) {
  std::array<std::uint16_t, 4> four;
  std::memcpy(four.data(), ids, sizeof four);
  return four;
}

#if defined(__x86_64__)

/// Writes past the caches if `past_caches`, for what is too much to be there still when it is read.
template <bool past_caches>
void write(float* to, __m128 numbers) {
  past_caches ? _mm_stream_ps(to, numbers) : _mm_store_ps(to, numbers);
}
template <bool past_caches>
void write(double* to, __m128d numbers) {
  past_caches ? _mm_stream_pd(to, numbers) : _mm_store_pd(to, numbers);
}

/// Writes of(0) .. of(3).
template <bool past_caches, class Of>
void write_four(float* to, Of of) {
  write<past_caches>(to, _mm_set_ps(of(3), of(2), of(1), of(0)));
}
template <bool past_caches, class Of>
void write_four(double* to, Of of) {
  write<past_caches>(to, _mm_set_pd(of(1), of(0)));
  write<past_caches>(to + 2, _mm_set_pd(of(3), of(2)));
}

inline void copy_past_caches(const float* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; i += 4) write<true>(to + i, _mm_load_ps(from + i));
}
inline void copy_past_caches(const double* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; i += 2) write<true>(to + i, _mm_load_pd(from + i));
}

/// Before others read what was written past the caches.
inline void end_writing_past_caches() {
  _mm_sfence();
}

/// Adds the two to y[first], then y[second].
inline void add_two(__m128d two, double* y, std::uint16_t first, std::uint16_t second) {
  _mm_store_sd(y + first, _mm_add_sd(two, _mm_load_sd(y + first)));
  const __m128d high = _mm_unpackhi_pd(two, two);
  _mm_store_sd(y + second, _mm_add_sd(high, _mm_load_sd(y + second)));
}

/// y[rows[k]] += numbers[k] for four, in order: one load of ids, one of floats, one conversion of
/// two at a time.
inline void add_four(const float* numbers, const std::uint16_t* rows, double* y) {
  const std::array<std::uint16_t, 4> row = four_ids(rows);
  const __m128 four = _mm_load_ps(numbers);
  add_two(_mm_cvtps_pd(four), y, row[0], row[1]);
  add_two(_mm_cvtps_pd(_mm_movehl_ps(four, four)), y, row[2], row[3]);
}
inline void add_four(const double* numbers, const std::uint16_t* rows, double* y) {
  const std::array<std::uint16_t, 4> row = four_ids(rows);
  add_two(_mm_load_pd(numbers), y, row[0], row[1]);
  add_two(_mm_load_pd(numbers + 2), y, row[2], row[3]);
}

#else

template <bool past_caches, class T, class Of>
void write_four(T* to, Of of) {
  for (int k = 0; k < 4; ++k) to[k] = of(k);
}
template <class T>
void copy_past_caches(const T* from, std::size_t count, T* to) {
  std::memcpy(to, from, count * sizeof(T));
}
inline void end_writing_past_caches() {}

#endif

/// y[rows[k]] += numbers[k] for four, in order, whatever y is made of.
template <class T, class Accumulator>
void add_four(const T* numbers, const std::uint16_t* rows, Accumulator* y) {
  for (int k = 0; k < 4; ++k) y[rows[k]] += numbers[k];
}

}  // namespace pagerank::detail
