#include <cub/device/device_radix_sort.cuh>

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

void DeviceAlgorithms::sort(cub::DoubleBuffer<std::uint64_t>& keys, std::uint64_t count, int begin,
                            int end) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count, begin, end, stream_);
  });
}

void DeviceAlgorithms::sort(cub::DoubleBuffer<std::uint32_t>& keys,
                            cub::DoubleBuffer<NodeId>& values, std::uint64_t count, int begin,
                            int end) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, begin, end,
                                           stream_);
  });
}

}  // namespace pagerank::gpu
