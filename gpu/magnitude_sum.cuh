#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/block_sums.cuh"
#include "gpu/csr_view.cuh"

// What reduce_shared.cu and reduce_shuffle.cu have in common: all work before a block's threads add
// up what they found, so that the two files differ in that alone.
namespace pagerank::gpu {

/// As many elements as one load instruction can fetch.
template <class T>
struct alignas(16) MagnitudeVector {
  static constexpr unsigned width = 16 / sizeof(T);
  T elements[width];

  /// In double for float too: the result is then rounded to float once, at the end, however many
  /// elements a thread adds. The conversions are done while other threads wait for the memory.
  [[nodiscard]] __device__ double sum() const {
    double sum = fabs(static_cast<double>(elements[0]));
    for (unsigned j = 1; j < width; ++j) sum += fabs(static_cast<double>(elements[j]));
    return sum;
  }
};

/// Vector i of x: one load of 16 bytes if x is `aligned` to them, else one for each element.
template <class T>
[[nodiscard]] __device__ MagnitudeVector<T> load_vector(const T* x, std::uint64_t i, bool aligned) {
  if (aligned) return reinterpret_cast<const MagnitudeVector<T>*>(x)[i];
  MagnitudeVector<T> vector;
  for (unsigned j = 0; j < vector.width; ++j) vector.elements[j] = x[i * vector.width + j];
  return vector;
}

/// The calling thread's share of the sum of |x[i]|: every vector that is its index in the grid plus
/// a multiple of the grid's size. The order, so the bits, depend on `length` and the grid alone.
template <class T>
[[nodiscard]] __device__ double thread_magnitude_sum(const T* x, std::uint64_t length) {
  using Vector = MagnitudeVector<T>;
  const bool aligned = reinterpret_cast<std::uintptr_t>(x) % alignof(Vector) == 0;
  const std::uint64_t vectors = length / Vector::width;
  const std::uint64_t thread = global_thread_index();
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  double sum = 0;
  std::uint64_t i = thread;
  // The memory answers after hundreds of cycles, and gives its full rate only while megabytes are
  // asked of it (rate times delay): hence 16 bytes a load, and a batch of loads before any
  // addition.
  constexpr unsigned batch = 4;
  for (; i + (batch - 1) * threads < vectors; i += batch * threads) {
    Vector loaded[batch];
    for (unsigned j = 0; j < batch; ++j) loaded[j] = load_vector(x, i + j * threads, aligned);
    for (const Vector& vector : loaded) sum += vector.sum();
  }
  for (; i < vectors; i += threads) sum += load_vector(x, i, aligned).sum();
  // The last elements fill no vector: the first few threads take one each.
  const std::uint64_t rest = vectors * Vector::width + thread;
  if (rest < length) sum += fabs(static_cast<double>(x[rest]));
  return sum;
}

/// Blocks of sum_block_size threads for a sum over `length` elements: a vector a thread, but not
/// more blocks than the second launch adds up quickly.
template <class T>
[[nodiscard]] unsigned magnitude_sum_blocks(std::uint64_t length) {
  constexpr std::uint64_t elements_per_block = sum_block_size * MagnitudeVector<T>::width;
  return blocks_for(std::min(length, most_sum_blocks * elements_per_block), elements_per_block);
}

}  // namespace pagerank::gpu
