#pragma once

#include <cstdint>

#include "core/types.hpp"
#include "gpu/nonempty_rows.cuh"
#include "gpu/slices.cuh"

namespace pagerank::gpu {

/// The links in the order of rows, cut into tiles of so many, which a block has in shared memory.
/// Sorted by window a row's links out of one window, a run, stand side by side, and with them all
/// others of the tile out of that window: a piece.
inline constexpr unsigned tile_threads = 512, links_of_thread = 14;
inline constexpr unsigned tile_warps = tile_threads / warp_size;
inline constexpr unsigned links_of_tile = tile_threads * links_of_thread;
inline constexpr unsigned words_of_tile = links_of_tile / warp_size;
inline constexpr unsigned tile_number_bits = 13;  ///< That hold a link's number in its tile.
static_assert(links_of_tile <= 1U << tile_number_bits);

/// Links in the order of rows, on the device.
struct RowLinksView {
  EdgeIndex links;
  const NodeId* columns;
  NonemptyRowsView rows;  ///< In tiles of links_of_tile.
};

/// How links are cut and sorted.
struct Tiling {
  RowLinksView links;
  std::uint32_t window_size, windows;
  std::uint32_t window_factor;  ///< floor(2^32 / window_size)
  int window_bits;

  [[nodiscard]] __host__ __device__ static std::uint64_t tiles_of(std::uint64_t links) {
    return (links + links_of_tile - 1) / links_of_tile;
  }
  [[nodiscard]] __host__ __device__ std::uint64_t tiles() const { return tiles_of(links.links); }

  /// column / window_size, by a multiplication and a comparison.
  [[nodiscard]] __device__ std::uint32_t window_of(NodeId column) const {
    const std::uint32_t least = __umulhi(column, window_factor);
    return column - least * window_size >= window_size ? least + 1 : least;
  }
};

/// Where the links of a thread are, k < links_of_thread: neighbours within a warp. Those below the
/// tile's size are there.
[[nodiscard]] __device__ inline unsigned place(unsigned k) {
  const unsigned warp = threadIdx.x / warp_size;
  return (warp * links_of_thread + k) * warp_size + threadIdx.x % warp_size;
}

/// The block's tile.
[[nodiscard]] __device__ inline EdgeIndex tile_begin() {
  return std::uint64_t{blockIdx.x} * links_of_tile;
}
[[nodiscard]] __device__ inline unsigned tile_size(const RowLinksView& links) {
  return static_cast<unsigned>(min(links.links - tile_begin(), std::uint64_t{links_of_tile}));
}

/// Calls use(row, at) for each row that begins in the block's tile; `row` points into rows.rows.
template <class Use>
__device__ void for_each_row(const NonemptyRowsView& rows, Use use) {
  const std::uint64_t first = rows.first_of_tile[blockIdx.x];
  const auto count = static_cast<unsigned>(rows.first_of_tile[blockIdx.x + 1] - first);
  for (unsigned i = threadIdx.x; i < count; i += tile_threads) {
    use(rows.rows + first + i, unsigned{rows.begins[first + i]});
  }
}

/// A link of a sorted tile: its number in the tile before, and whether a run, and a piece, begins
/// with it.
struct SortedLink {
  std::uint16_t bits;
  [[nodiscard]] __device__ unsigned number() const { return bits & ((1U << tile_number_bits) - 1); }
  [[nodiscard]] __device__ bool begins_run() const { return (bits >> tile_number_bits & 1) != 0; }
  [[nodiscard]] __device__ bool begins_piece() const {
    return (bits >> (tile_number_bits + 1) & 1) != 0;
  }
  [[nodiscard]] __device__ static SortedLink make(unsigned number, bool run, bool piece) {
    return {static_cast<std::uint16_t>(number | unsigned{run} << tile_number_bits |
                                       unsigned{piece} << (tile_number_bits + 1))};
  }
};

}  // namespace pagerank::gpu
