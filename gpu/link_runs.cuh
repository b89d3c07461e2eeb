#pragma once

#include "gpu/blocked_shape.hpp"
#include "gpu/device_algorithms.cuh"
#include "gpu/node_order.cuh"

namespace pagerank::gpu {

/// A link as it is sorted: window, row, and column within the window, from the high bits down.
struct LinkKey {
  unsigned local_bits;
  [[nodiscard]] __host__ __device__ unsigned window_shift() const { return local_bits + 32; }
  [[nodiscard]] __device__ std::uint64_t make(std::uint64_t window, std::uint64_t row,
                                              std::uint64_t local) const {
    return window << window_shift() | row << local_bits | local;
  }
  [[nodiscard]] __device__ std::uint64_t run(std::uint64_t key) const { return key >> local_bits; }
  [[nodiscard]] __device__ std::uint32_t row(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> local_bits);
  }
  [[nodiscard]] __device__ std::uint32_t window(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> window_shift());
  }
  [[nodiscard]] __device__ std::uint32_t local(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key) & ((1U << local_bits) - 1);
  }
};

/// Runs by window, those of a window by row; rows in the base order.
struct Runs {
  std::uint64_t count = 0;
  DeviceBuffer<std::uint32_t> begin;  ///< The first link of each, modulo 2^32; count + 1.
  DeviceBuffer<NodeId> row;
  DeviceBuffer<std::uint64_t> of_window;        ///< The first of each window; windows + 1.
  DeviceBuffer<std::uint64_t> links_of_window;  ///< Likewise; of less than 2^32 links each.
  DeviceBuffer<std::uint16_t> local_of_link;    ///< Columns within their windows.
};

/// The links by window and row, cut into runs.
template <class T>
struct LinkRuns {
  DeviceBuffer<T> values;  ///< Of the links, where the matrix has any.
  Runs runs;
};

/// Bytes of links, with values of so many bytes each, while they are sorted.
[[nodiscard]] inline std::size_t bytes_to_sort_links(std::uint64_t links, std::size_t value_bytes) {
  return links * 2 * (sizeof(std::uint64_t) + value_bytes);
}

/// Sorts the links as they arrive and finds the runs, rows and columns taken in the base order.
/// Throws KernelRefused, and OutOfMemory before it allocates: also for what the layout takes later,
/// what it keeps of that in `kept`.
template <class T>
[[nodiscard]] LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                                         const BlockedShape& shape, std::uint32_t windows,
                                         const ScratchMemory& kept, DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
