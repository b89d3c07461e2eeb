#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

std::uint64_t DeviceAlgorithms::unique(const std::uint64_t* in, std::uint64_t* out,
                                       std::uint64_t count) {
  DeviceBuffer<std::uint64_t> selected(1, scratch_);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, in, out, selected.data(), count, stream_);
  });
  return fetch(selected.data());
}

std::uint64_t DeviceAlgorithms::least(const std::uint64_t* elements, std::uint64_t count) {
  DeviceBuffer<std::uint64_t> found(1, scratch_);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Min(scratch, bytes, elements, found.data(), count, stream_);
  });
  return fetch(found.data());
}

std::uint64_t DeviceAlgorithms::greatest(const std::uint64_t* elements, std::uint64_t count) {
  DeviceBuffer<std::uint64_t> found(1, scratch_);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Max(scratch, bytes, elements, found.data(), count, stream_);
  });
  return fetch(found.data());
}

}  // namespace pagerank::gpu
