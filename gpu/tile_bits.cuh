#pragma once

#include <cstdint>

#include "gpu/link_tile.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// A bit for each link of a tile. A warp has the words of its own links, a lane each. (There is a
/// word more than that, of which no bit is looked at.)
struct TileBits {
  std::uint32_t words[words_of_tile + 1];
  std::uint16_t before[words_of_tile + 1];  ///< Bits set before each word.
  std::uint16_t of_warp[tile_warps];

  __device__ void set(unsigned at) { atomicOr(&words[at / warp_size], 1U << at % warp_size); }
  /// Bits set below `at`, which may be links_of_tile; once they have been counted.
  [[nodiscard]] __device__ unsigned rank(unsigned at) const {
    const unsigned word = at / warp_size, bit = at % warp_size;
    return before[word] + static_cast<unsigned>(__popc(words[word] & ((1U << bit) - 1)));
  }
  /// Bits set up to and with `at`.
  [[nodiscard]] __device__ unsigned rank_through(unsigned at) const {
    const unsigned word = at / warp_size, bit = at % warp_size;
    return before[word] + static_cast<unsigned>(__popc(words[word] & ((2U << bit) - 1)));
  }
  /// For all threads, when all bits are set. Then a barrier, finish_counting(), and another.
  __device__ void count() {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    count(lane < links_of_thread ? words[warp * links_of_thread + lane] : 0);
  }
  /// The same for who knows the lane's word.
  __device__ void count(std::uint32_t mine) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const auto set = static_cast<unsigned>(lane < links_of_thread ? __popc(mine) : 0);
    const unsigned through = sum_through_lane(set, lane);
    if (lane < links_of_thread) {
      before[warp * links_of_thread + lane] = static_cast<std::uint16_t>(through - set);
    }
    if (lane == warp_size - 1) of_warp[warp] = static_cast<std::uint16_t>(through);
  }
  __device__ void finish_counting() {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned before_warp = warp_sum_of(lane < warp ? of_warp[lane] : 0U);
    if (lane < links_of_thread) {
      std::uint16_t& count = before[warp * links_of_thread + lane];
      count = static_cast<std::uint16_t>(count + before_warp);
    }
    if (threadIdx.x == tile_threads - 1) {
      before[words_of_tile] = static_cast<std::uint16_t>(before_warp + of_warp[warp]);
    }
  }
};

/// Where pieces begin, the links of a tile out of one window.
struct TilePieces {
  std::uint32_t words[words_of_tile];
  std::uint16_t last[words_of_tile];  ///< Where the last one before each word does.
  std::uint16_t last_of_warp[tile_warps];

  /// Where the piece of a link begins; once that is known of all words.
  [[nodiscard]] __device__ unsigned begin(unsigned at) const {
    const unsigned word = at / warp_size, bit = at % warp_size;
    const std::uint32_t through = words[word] & ((2U << bit) - 1);
    const unsigned here = (word + 1) * warp_size - 1 - static_cast<unsigned>(__clz(through));
    return through != 0 ? here : last[word];
  }
  /// For all threads; `mine` is the lane's word. Then a barrier, finish_finding(), and another. (0
  /// where there is none before: the first link begins one.)
  __device__ void find_last(std::uint32_t mine) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned word = warp * links_of_thread + lane;
    unsigned through = lane < links_of_thread && mine != 0
                           ? (word + 1) * warp_size - 1 - static_cast<unsigned>(__clz(mine))
                           : 0;
    for (unsigned offset = 1; offset < warp_size; offset *= 2) {
      const unsigned other = __shfl_up_sync(full_warp, through, offset);
      if (lane >= offset) through = max(through, other);
    }
    const unsigned before = __shfl_up_sync(full_warp, through, 1);
    if (lane < links_of_thread) last[word] = static_cast<std::uint16_t>(lane == 0 ? 0 : before);
    if (lane == warp_size - 1) last_of_warp[warp] = static_cast<std::uint16_t>(through);
  }
  __device__ void finish_finding() {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned before_warp = warp_max(lane < warp ? last_of_warp[lane] : 0U);
    if (lane < links_of_thread) {
      std::uint16_t& found = last[warp * links_of_thread + lane];
      found = static_cast<std::uint16_t>(max(unsigned{found}, before_warp));
    }
  }
};

/// Where rows begin; the tile's first link always does, if only for the tile.
__device__ inline void clear_row_begins(TileBits& begins) {
  for (unsigned w = threadIdx.x; w < words_of_tile; w += tile_threads) {
    begins.words[w] = w == 0 ? 1 : 0;
  }
}
__device__ inline void mark_row_begins(const NonemptyRowsView& rows, TileBits& begins) {
  for_each_row(rows, [&](const NodeId*, unsigned at) { begins.set(at); });
}

}  // namespace pagerank::gpu
