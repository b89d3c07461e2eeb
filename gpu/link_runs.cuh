#pragma once

#include "gpu/blocked_shape.hpp"
#include "gpu/device_algorithms.cuh"
#include "gpu/node_order.cuh"

namespace pagerank::gpu {

/// Runs by window, those of a window by row; rows in the base order.
struct Runs {
  std::uint64_t count = 0;
  DeviceBuffer<std::uint32_t> begin;  ///< The first link of each, modulo 2^32; count + 1.
  DeviceBuffer<NodeId> row;
  DeviceBuffer<std::uint64_t> of_window;        ///< The first of each window; windows + 1.
  DeviceBuffer<std::uint64_t> links_of_window;  ///< Likewise; of less than 2^32 links each.
  DeviceBuffer<std::uint16_t> local_of_link;    ///< Columns within their windows; in whole fours.
};

/// The runs of each row; rows in the base order.
struct RunsByRow {
  DeviceBuffer<std::uint32_t> runs;    ///< Rows ascending; those of a row in any fixed order.
  DeviceBuffer<std::uint32_t> begin;   ///< The first in `runs`, of rows that have any.
  DeviceBuffer<std::uint32_t> counts;  ///< Runs of each row.
};

/// The links by window and row, cut into runs.
template <class T>
struct LinkRuns {
  DeviceBuffer<T> values;  ///< Of the links, where the matrix has any.
  Runs runs;
  RunsByRow by_row;
};

/// Scratch bytes to find the runs of a graph in, nearly: the links', values of so many bytes each
/// among them, before and after, and what they are counted in; not the runs'.
[[nodiscard]] std::size_t bytes_to_find_runs(std::uint64_t links, std::size_t value_bytes,
                                             std::uint64_t windows);

/// Brings the links into the order of rows as they arrive, sorts them by window and finds the runs,
/// rows and columns taken in the base order. Throws KernelRefused, and OutOfMemory before it
/// allocates: also for what the layout takes later.
template <class T>
[[nodiscard]] LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                                         const BlockedShape& shape, std::uint32_t windows,
                                         DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
