#pragma once

#include <thrust/iterator/reverse_iterator.h>

#include <algorithm>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <utility>
#include <vector>

#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// CUB's algorithms with the scratch memory that they ask for, all queued into its stream, or into
/// another that waits for it where it has to.
class DeviceAlgorithms {
 public:
  explicit DeviceAlgorithms(const ScratchMemory& scratch)
      : DeviceAlgorithms(scratch, scratch.stream()) {}
  DeviceAlgorithms(const ScratchMemory& scratch, cudaStream_t stream)
      : scratch_(scratch), stream_(stream) {}

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const ScratchMemory& scratch() const { return scratch_; }

  /// out[i] = in[0] + .. + in[i - 1], for i < count.
  template <class In, class Out>
  void exclusive_sum(const In* in, Out* out, std::uint64_t count) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, cuda::std::plus<>{}, Out{},
                                            count, stream_);
    });
  }
  /// Likewise, in place.
  template <class Iterator>
  void exclusive_sum_in_place(Iterator elements, std::uint64_t count) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScan(
          scratch, bytes, elements, elements, cuda::std::plus<>{},
          typename cuda::std::iterator_traits<Iterator>::value_type{}, count, stream_);
    });
  }
  /// out[i] = in[0] + .. + in[i], for i < count.
  template <class In, class Out>
  void inclusive_sum(const In* in, Out* out, std::uint64_t count) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, count, stream_);
    });
  }
  /// In place: out[i] = the least of in[0 .. i].
  template <class Iterator>
  void inclusive_min(Iterator elements, std::uint64_t count) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(scratch, bytes, elements, elements, cuda::minimum<>{},
                                            count, stream_);
    });
  }
  /// Stable, by bits [begin, end) of the keys.
  template <class Key>
  void sort(cub::DoubleBuffer<Key>& keys, std::uint64_t count, int begin, int end) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count, begin, end, stream_);
    });
  }
  template <class Key, class Value>
  void sort(cub::DoubleBuffer<Key>& keys, cub::DoubleBuffer<Value>& values, std::uint64_t count,
            int begin, int end) {
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, begin, end,
                                             stream_);
    });
  }
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

  /// The first of each run of equal elements; returns how many.
  template <class T>
  [[nodiscard]] std::uint64_t unique(const T* in, T* out, std::uint64_t count) {
    DeviceBuffer<std::uint64_t> selected(1, scratch_);
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceSelect::Unique(scratch, bytes, in, out, selected.data(), count, stream_);
    });
    return fetch(selected.data());
  }
  template <class T>
  [[nodiscard]] T least(const T* elements, std::uint64_t count) {
    DeviceBuffer<T> found(1, scratch_);
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::Min(scratch, bytes, elements, found.data(), count, stream_);
    });
    return fetch(found.data());
  }
  template <class T>
  [[nodiscard]] T greatest(const T* elements, std::uint64_t count) {
    DeviceBuffer<T> found(1, scratch_);
    call([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::Max(scratch, bytes, elements, found.data(), count, stream_);
    });
    return fetch(found.data());
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
  template <class Algorithm>
  void call(Algorithm algorithm) {
    std::size_t bytes = 0;
    PAGERANK_CUDA(algorithm(nullptr, bytes));
    DeviceBuffer<char> work(std::max<std::size_t>(bytes, 1), scratch_);
    PAGERANK_CUDA(algorithm(work.data(), bytes));
  }

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

/// Where the members of each group begin among `count` elements that are sorted by group_at(i):
/// offsets[g] for g <= groups, those of empty groups where the next one's begin. Queued.
template <class Offset, class GroupAt>
void queue_offsets(std::uint64_t count, std::uint64_t groups, Offset* offsets, GroupAt group_at,
                   DeviceAlgorithms& algorithms) {
  queue_for_each(
      groups + 1, [=] __device__(std::uint64_t g) { offsets[g] = static_cast<Offset>(count); },
      algorithms.stream());
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t group = group_at(i);
        if (i == 0 || group_at(i - 1) != group) offsets[group] = static_cast<Offset>(i);
      },
      algorithms.stream());
  algorithms.inclusive_min(thrust::make_reverse_iterator(offsets + groups + 1), groups + 1);
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
