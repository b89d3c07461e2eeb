#include <cub/device/device_radix_sort.cuh>

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

// Not beside the other sorts: without weights its code, half as much as theirs, need not be loaded.
void DeviceAlgorithms::sort(cub::DoubleBuffer<std::uint64_t>& keys,
                            cub::DoubleBuffer<double>& values, std::uint64_t count, int begin,
                            int end) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, count, begin, end,
                                           stream_);
  });
}

}  // namespace pagerank::gpu
