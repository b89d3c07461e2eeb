#pragma once

#include <algorithm>
#include <cstdint>
#include <cub/device/device_select.cuh>
#include <cub/util_type.cuh>
#include <utility>
#include <vector>

#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// CUB's algorithms with the scratch memory that they ask for, all queued into its stream, or into
/// another that waits for it where it has to. What takes no functions is compiled once, in files of
/// their own, for the types that are named: a process loads the code of each copy (milliseconds in
/// all, docs/notebook/reading.md).
class DeviceAlgorithms {
 public:
  explicit DeviceAlgorithms(const ScratchMemory& scratch)
      : DeviceAlgorithms(scratch, scratch.stream()) {}
  DeviceAlgorithms(const ScratchMemory& scratch, cudaStream_t stream)
      : scratch_(scratch), stream_(stream) {}

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const ScratchMemory& scratch() const { return scratch_; }

  /// out[i] = in[0] + .. + in[i - 1], for i < count, where `out` may be `in`. T: std::uint32_t or
  /// std::uint64_t.
  template <class T>
  void exclusive_sum(const T* in, T* out, std::uint64_t count);
  /// out[i] = in[0] + .. + in[i], for i < count.
  void inclusive_sum(const std::uint32_t* in, std::uint32_t* out, std::uint64_t count);
  /// In place: elements[i] = the least of elements[i .. count). T: std::uint32_t or std::uint64_t.
  template <class T>
  void least_of_rest(T* elements, std::uint64_t count);

  /// Stable, by bits [begin, end) of the keys.
  void sort(cub::DoubleBuffer<std::uint64_t>& keys, std::uint64_t count, int begin, int end);
  void sort(cub::DoubleBuffer<std::uint64_t>& keys, cub::DoubleBuffer<double>& values,
            std::uint64_t count, int begin, int end);
  void sort(cub::DoubleBuffer<std::uint32_t>& keys, cub::DoubleBuffer<NodeId>& values,
            std::uint64_t count, int begin, int end);

  /// The first of each run of equal elements; returns how many.
  [[nodiscard]] std::uint64_t unique(const std::uint64_t* in, std::uint64_t* out,
                                     std::uint64_t count);
  [[nodiscard]] std::uint64_t least(const std::uint64_t* elements, std::uint64_t count);
  [[nodiscard]] std::uint64_t greatest(const std::uint64_t* elements, std::uint64_t count);

  /// The elements of in[0 .. count) that the predicate accepts, in their order; returns how many.
  template <class In, class Out, class Predicate>
  [[nodiscard]] std::uint64_t select(In in, Out out, std::uint64_t count, Predicate predicate) {
    DeviceBuffer<std::uint64_t> selected(1, scratch_);
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceSelect::If(scratch, bytes, in, out, selected.data(), count, predicate,
                                   stream_);
    });
    return fetch(selected.data());
  }

  /// An algorithm of CUB, called as algorithm(scratch, bytes).
  template <class Algorithm>
  void call(Algorithm algorithm) {
    std::size_t bytes = 0;
    PAGERANK_CUDA(algorithm(nullptr, bytes));
    DeviceBuffer<char> work(std::max<std::size_t>(bytes, 1), scratch_);
    PAGERANK_CUDA(algorithm(work.data(), bytes));
  }

  /// The elements in this memory, there for what is queued from now on.
  template <class T>
  [[nodiscard]] DeviceBuffer<T> upload(const std::vector<T>& elements,
                                       const ScratchMemory& memory) {
    DeviceBuffer<T> uploaded(elements.size(), memory);
    if (elements.empty()) return uploaded;
    // (From memory that is not page-locked: it has been read when this returns.)
    PAGERANK_CUDA(cudaMemcpyAsync(uploaded.data(), elements.data(), elements.size() * sizeof(T),
                                  cudaMemcpyHostToDevice, stream_));
    return uploaded;
  }

  /// The element in device memory, once the stream has come that far.
  template <class T>
  [[nodiscard]] T fetch(const T* element) {
    T value;
    PAGERANK_CUDA(cudaMemcpyAsync(&value, element, sizeof(T), cudaMemcpyDeviceToHost, stream_));
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
    return value;
  }
  /// Two of them by one trip.
  template <class T>
  [[nodiscard]] std::pair<T, T> fetch_two(const T* one, const T* other) {
    std::pair<T, T> values;
    PAGERANK_CUDA(cudaMemcpyAsync(&values.first, one, sizeof(T), cudaMemcpyDeviceToHost, stream_));
    PAGERANK_CUDA(
        cudaMemcpyAsync(&values.second, other, sizeof(T), cudaMemcpyDeviceToHost, stream_));
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
    return values;
  }
  template <class T>
  [[nodiscard]] std::vector<T> fetch(const T* elements, std::uint64_t count) {
    std::vector<T> values(count);
    PAGERANK_CUDA(cudaMemcpyAsync(values.data(), elements, count * sizeof(T),
                                  cudaMemcpyDeviceToHost, stream_));
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
    return values;
  }

 private:
  ScratchMemory scratch_;
  cudaStream_t stream_;
};

/// f(i) for i < count, a thread each.
template <class F>
__global__ void for_each_index(std::uint64_t count, F f) {
  const std::uint64_t i = global_thread_index();
  if (i < count) f(i);
}
template <class F>
void queue_for_each(std::uint64_t count, F f, cudaStream_t stream) {
  if (count == 0) return;
  constexpr unsigned block_size = 256;
  for_each_index<<<blocks_for(count, block_size), block_size, 0, stream>>>(count, f);
  PAGERANK_CUDA_LAUNCHED(for_each_index);
}

template <class T>
void queue_fill(T value, T* elements, std::uint64_t count, cudaStream_t stream) {
  queue_for_each(
      count, [=] __device__(std::uint64_t i) { elements[i] = value; }, stream);
}

/// Where the members of each group begin among `count` elements that are sorted by group_at(i):
/// offsets[g] for g <= groups, those of empty groups where the next one's begin. Queued.
template <class Offset, class GroupAt>
void queue_offsets(std::uint64_t count, std::uint64_t groups, Offset* offsets, GroupAt group_at,
                   DeviceAlgorithms& algorithms) {
  queue_fill(static_cast<Offset>(count), offsets, groups + 1, algorithms.stream());
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t group = group_at(i);
        if (i == 0 || group_at(i - 1) != group) offsets[group] = static_cast<Offset>(i);
      },
      algorithms.stream());
  algorithms.least_of_rest(offsets, groups + 1);
}

/// The number of elements of the ascending range that are not above `value`.
template <class T, class Value>
__host__ __device__ inline std::uint64_t upper_bound(const T* elements, std::uint64_t count,
                                                     Value value) {
  std::uint64_t least = 0;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (elements[least + half] <= value) {
      least += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return least;
}
/// The number of elements below `value`.
template <class T, class Value>
__host__ __device__ inline std::uint64_t lower_bound(const T* elements, std::uint64_t count,
                                                     Value value) {
  std::uint64_t least = 0;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (elements[least + half] < value) {
      least += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return least;
}

/// Bits that numbers below `count` take.
inline int bits_below(std::uint64_t count) {
  int bits = 0;
  while (bits < 64 && (std::uint64_t{1} << bits) < count) ++bits;
  return bits;
}

}  // namespace pagerank::gpu
