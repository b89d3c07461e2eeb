#pragma once

#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cstdint>

#include "core/types.hpp"
#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

/// The rows of a matrix that have links, and where they begin in tiles, so many neighbouring links
/// each: who works on a tile looks at no row of the millions without links that may lie between
/// two others.
struct NonemptyRowsView {
  const NodeId* rows;           ///< Ascending.
  const std::uint16_t* begins;  ///< The number of each one's first link in its tile.
  const NodeId*
      first_of_tile;  ///< In `rows`: the first that begins in the tile or later; tiles + 1.

  /// In `rows`: the first with links in the tile, wherever it begins.
  [[nodiscard]] __device__ std::uint64_t first_in(std::uint64_t tile) const {
    const NodeId first = first_of_tile[tile];
    return first < first_of_tile[tile + 1] && begins[first] == 0 ? first : std::uint64_t{first} - 1;
  }
};

/// Owns them.
struct NonemptyRows {
  DeviceBuffer<NodeId> rows;  ///< `count`, and more.
  DeviceBuffer<std::uint16_t> begins;
  DeviceBuffer<NodeId> first_of_tile;
  std::uint64_t count = 0;

  [[nodiscard]] NonemptyRowsView view() const {
    return {rows.data(), begins.data(), first_of_tile.data()};
  }
};

/// Of a matrix of so many rows and links, not none. Queued, but for one trip to the device.
template <unsigned links_of_tile>
[[nodiscard]] NonemptyRows find_nonempty_rows(const EdgeIndex* offsets, std::uint64_t rows,
                                              EdgeIndex links, DeviceAlgorithms& algorithms) {
  static_assert(links_of_tile <= 1U << 16);
  const ScratchMemory& scratch = algorithms.scratch();
  NonemptyRows found;
  found.rows = DeviceBuffer<NodeId>(std::min<std::uint64_t>(rows, links), scratch);
  found.count = algorithms.select(
      thrust::counting_iterator<NodeId>(0), found.rows.data(), rows,
      [=] __device__(NodeId row) { return offsets[row] < offsets[row + std::uint64_t{1}]; });
  found.begins = DeviceBuffer<std::uint16_t>(found.count, scratch);
  const std::uint64_t tiles = (links + links_of_tile - 1) / links_of_tile;
  found.first_of_tile = DeviceBuffer<NodeId>(tiles + 1, scratch);
  const NodeId* const row_at = found.rows.data();
  std::uint16_t* const begin = found.begins.data();
  queue_for_each(
      found.count,
      [=] __device__(std::uint64_t i) {
        begin[i] = static_cast<std::uint16_t>(offsets[row_at[i]] % links_of_tile);
      },
      algorithms.stream());
  queue_offsets(
      found.count, tiles, found.first_of_tile.data(),
      [=] __device__(std::uint64_t i) { return offsets[row_at[i]] / links_of_tile; }, algorithms);
  return found;
}

}  // namespace pagerank::gpu
