#include <thrust/iterator/reverse_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

template <class T>
void DeviceAlgorithms::exclusive_sum(const T* in, T* out, std::uint64_t count) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, cuda::std::plus<>{}, T{}, count,
                                          stream_);
  });
}
template void DeviceAlgorithms::exclusive_sum(const std::uint32_t*, std::uint32_t*, std::uint64_t);
template void DeviceAlgorithms::exclusive_sum(const std::uint64_t*, std::uint64_t*, std::uint64_t);

void DeviceAlgorithms::inclusive_sum(const std::uint32_t* in, std::uint32_t* out,
                                     std::uint64_t count) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, count, stream_);
  });
}

template <class T>
void DeviceAlgorithms::least_of_rest(T* elements, std::uint64_t count) {
  const auto from_the_end = thrust::make_reverse_iterator(elements + count);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, from_the_end, from_the_end,
                                          cuda::minimum<>{}, count, stream_);
  });
}
template void DeviceAlgorithms::least_of_rest(std::uint32_t*, std::uint64_t);
template void DeviceAlgorithms::least_of_rest(std::uint64_t*, std::uint64_t);

}  // namespace pagerank::gpu
