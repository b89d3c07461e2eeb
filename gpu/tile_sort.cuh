#pragma once

#include <cstdint>

#include "gpu/link_tile.cuh"
#include "gpu/tile_bits.cuh"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {

/// Bits of a window's number that a tile is sorted by at once.
inline constexpr int most_digit_bits = 9;
inline constexpr unsigned most_digits = 1U << most_digit_bits;
static_assert(most_digits == tile_threads);

/// What a block sorts in.
struct TileMemory {
  union {
    std::uint16_t counts[tile_warps][most_digits];  ///< While sorting.
    std::uint16_t numbers[links_of_tile];  ///< In the tile before sorting, of sorted links.
  };
  std::uint32_t groups[links_of_tile];  ///< Window, and which of the tile's rows that have links.
  std::uint16_t sums_of_warps[tile_warps];
  TileBits row_begins;  ///< Before sorting.
  TileBits run_begins;  ///< After sorting.
  TilePieces pieces;    ///< After sorting.
};

[[nodiscard]] __device__ inline std::uint32_t window_of_group(std::uint32_t group) {
  return group >> tile_number_bits;
}

/// The block's tile, sorted by window and within that as it was: made by all of the block's
/// threads, to be read by all.
class SortedTile {
 public:
  __device__ SortedTile(const Tiling& tiling, TileMemory& memory)
      : tiling_(tiling), memory_(memory), size_(tile_size(tiling.links)) {
    sort();
    find_beginnings();
  }

  [[nodiscard]] __device__ unsigned size() const { return size_; }
  /// The link at place(k).
  [[nodiscard]] __device__ SortedLink link(unsigned k) const {
    return SortedLink::make(memory_.numbers[place(k)], (run_begins_ >> k & 1) != 0,
                            (piece_begins_ >> k & 1) != 0);
  }
  /// Bit k: a piece begins at place(k).
  [[nodiscard]] __device__ unsigned piece_begins() const { return piece_begins_; }

 private:
  /// By equal parts of the windows' bits, the lowest first.
  __device__ void sort() {
    load_columns();  // on their way while the rows are looked for
    find_rows();
    make_groups();
    const int digits = (tiling_.window_bits + most_digit_bits - 1) / most_digit_bits;
    const int digit_bits = (tiling_.window_bits + digits - 1) / digits;
    sort_by<true>(tile_number_bits, 1U << digit_bits);
    for (int d = 1; d < digits; ++d) {
      sort_by<false>(tile_number_bits + d * digit_bits, 1U << digit_bits);
    }
  }

  __device__ void find_rows() {
    clear_row_begins(memory_.row_begins);
    __syncthreads();
    mark_row_begins(tiling_.links.rows, memory_.row_begins);
    __syncthreads();
    memory_.row_begins.count();
    __syncthreads();
    memory_.row_begins.finish_counting();
    __syncthreads();
  }

  __device__ void load_columns() {
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      groups_[k] = place(k) < size_ ? tiling_.links.columns[tile_begin() + place(k)] : 0;
    }
  }

  /// Of the columns in their place.
  __device__ void make_groups() {
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      const std::uint32_t window = tiling_.window_of(groups_[k]);
      // (What is not there is sorted behind all that is.)
      const unsigned row = memory_.row_begins.rank_through(place(k)) - 1;
      groups_[k] = place(k) < size_ ? window << tile_number_bits | row : 0xffffffffU;
    }
  }

  /// Stable, by the bits from `shift` on that tell so many digits: each warp counts its links of
  /// each digit, and for each link those before it.
  template <bool first>
  __device__ void sort_by(int shift, unsigned digits) {
    std::uint32_t ranks[links_of_thread];  // and numbers above them
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      if constexpr (!first) groups_[k] = memory_.groups[place(k)];
      ranks[k] = first ? place(k) << 16 : std::uint32_t{memory_.numbers[place(k)]} << 16;
    }
    if constexpr (!first) __syncthreads();
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    std::uint16_t* const count = memory_.counts[warp];
    for (unsigned digit = lane; digit < digits; digit += warp_size) count[digit] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      const unsigned digit = groups_[k] >> shift & (digits - 1);
      const unsigned alike = __match_any_sync(full_warp, digit);
      const unsigned before = static_cast<unsigned>(__popc(alike & ((1U << lane) - 1)));
      const unsigned so_far = count[digit];
      __syncwarp();
      if (before == 0) count[digit] = static_cast<std::uint16_t>(so_far + __popc(alike));
      __syncwarp();
      ranks[k] += so_far + before;
    }
    __syncthreads();
    turn_into_places(digits);
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      ranks[k] += count[groups_[k] >> shift & (digits - 1)];
      memory_.groups[ranks[k] & 0xffff] = groups_[k];
    }
    __syncthreads();  // the counts have served
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      memory_.numbers[ranks[k] & 0xffff] = static_cast<std::uint16_t>(ranks[k] >> 16);
    }
    __syncthreads();
  }

  /// The counts of each digit and warp: to where those begin. A thread a digit.
  __device__ void turn_into_places(unsigned digits) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned digit = threadIdx.x;
    unsigned sum = 0;
    if (digit < digits) {
#pragma unroll
      for (unsigned w = 0; w < tile_warps; ++w) sum += memory_.counts[w][digit];
    }
    const unsigned through = sum_through_lane(sum, lane);
    if (lane == warp_size - 1) memory_.sums_of_warps[warp] = static_cast<std::uint16_t>(through);
    __syncthreads();
    if (digit < digits) {
      unsigned begin = through - sum;
      for (unsigned w = 0; w < warp; ++w) begin += memory_.sums_of_warps[w];
#pragma unroll
      for (unsigned w = 0; w < tile_warps; ++w) {
        const unsigned count = memory_.counts[w][digit];
        memory_.counts[w][digit] = static_cast<std::uint16_t>(begin);
        begin += count;
      }
    }
    __syncthreads();
  }

  /// A run begins with another row or window than the link's before, or far enough in a long run:
  /// long runs are cut at multiples of half a list's length, so that none is longer than a list,
  /// and who looks at a link needs to know nothing of where its run began.
  __device__ void find_beginnings() {
    constexpr unsigned cut = longest_list / 2;
    static_assert(links_of_tile % cut == 0 && cut % warp_size == 0);
    const unsigned lane = threadIdx.x % warp_size;
    const std::uint32_t* const groups = memory_.groups;
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) groups_[k] = groups[place(k)];
    std::uint32_t run_word = 0, piece_word = 0;  // of lane k those of place(k)
    run_begins_ = piece_begins_ = 0;
#pragma unroll
    for (unsigned k = 0; k < links_of_thread; ++k) {
      const unsigned at = place(k);
      const std::uint32_t group = groups_[k];
      std::uint32_t before = __shfl_up_sync(full_warp, group, 1);
      bool far_enough = false;
      if (lane == 0) {
        before = at == 0 ? ~group : groups[at - 1];
        far_enough = at % cut == 0 && at >= cut && group == groups[at - cut];
      }
      const bool there = at < size_;
      const bool run = there && (group != before || far_enough);
      const bool of_piece = there && window_of_group(group) != window_of_group(before);
      run_begins_ |= unsigned{run} << k;
      piece_begins_ |= unsigned{of_piece} << k;
      const unsigned runs = __ballot_sync(full_warp, run),
                     pieces = __ballot_sync(full_warp, of_piece);
      if (lane == k) {
        run_word = runs;
        piece_word = pieces;
      }
    }
    const unsigned word = threadIdx.x / warp_size * links_of_thread + lane;
    if (lane < links_of_thread) {
      memory_.run_begins.words[word] = run_word;
      memory_.pieces.words[word] = piece_word;
    }
    memory_.run_begins.count(run_word);
    memory_.pieces.find_last(piece_word);
    __syncthreads();
    memory_.run_begins.finish_counting();
    memory_.pieces.finish_finding();
    __syncthreads();
  }

  const Tiling& tiling_;
  TileMemory& memory_;
  unsigned size_;
  std::uint32_t groups_[links_of_thread];
  unsigned run_begins_ = 0, piece_begins_ = 0;
};

}  // namespace pagerank::gpu
