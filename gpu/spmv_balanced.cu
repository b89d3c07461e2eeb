// Every block does the same number of steps, whatever the rows look like. Walking a CSR matrix is
// merging two lists, the links and the rows' ends: a step either adds a link or finishes a row. The
// merge path is cut into tiles of equal length, a block each; where a tile begins is found by
// bisection, once for a matrix.
//
// A block gathers its tile's products into shared memory, all threads alike, and then adds up the
// pieces of rows that lie in its tile: short pieces a thread each, long ones a warp each. A row
// that crosses tiles is put together by a second, tiny kernel: fixed orders, no atomics on numbers.
// After D. Merrill, M. Garland: Merge-Based Parallel Sparse Matrix-Vector Multiplication (SC 2016),
// and J. Greathouse, M. Daga: Efficient SpMV on GPUs Using the CSR Format (SC 2014).
//
//   row ends  2 4 7 9      links 0..8, tiles of 5 steps:
//   tile 0: +0 +1 row0 +2 +3 | tile 1: row1 +4 +5 +6 row2 | tile 2: +7 +8 row3
//                  row 1 ends in tile 1: tile 0 carries +2 +3 there
#include "gpu/spmv_balanced.cuh"

#include <algorithm>

#include "gpu/cache_policy.cuh"
#include "gpu/launch_bounds.cuh"
#include "gpu/overlapping_launch.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 512;
constexpr unsigned steps_per_thread = 6;
/// Four blocks fill a multiprocessor, if a thread makes do with 32 registers; doubles need more.
template <class T>
constexpr unsigned blocks_per_multiprocessor = sizeof(T) == 4 ? 4 : 3;
/// A longer piece of a row is added up by a warp.
constexpr unsigned long_piece = 64;

/// Links from the beginning of a cache line on: a warp that reads 32 of them from anywhere else
/// asks for five sectors where four would do.
constexpr unsigned line_links = 32;
/// Steps of a tile where a block stages it in shared memory, and where a warp adds it up directly.
constexpr unsigned staged_steps = block_size * steps_per_thread - line_links;
constexpr unsigned direct_steps = 512;
/// Of small matrices tiles are shorter, so that no multiprocessor of a large GPU (an H100 has 132)
/// is without one: a block's own time is what an iteration takes then.
constexpr unsigned least_tiles = 132;
constexpr unsigned least_staged_steps = block_size;
/// Shared memory is cache that x could have: where all of x (about) fits into what a multiprocessor
/// has, and rows keep a warp's lanes busy, nothing is staged.
constexpr std::size_t most_direct_bytes = std::size_t{448} << 10;
constexpr unsigned least_direct_mean = 64;

/// Where a tile begins on the merge path.
struct PathPoint {
  EdgeIndex link;
  NodeId row;
};

/// Where a row ends, counted in links from the beginning of the tile that it ends in: a quarter of
/// what reading its offset takes.
using RowEnd = std::uint16_t;
static_assert(staged_steps <= 0xffff && direct_steps <= 0xffff);

/// What a tile adds up for the row that it does not finish.
struct Carry {
  double sum;
  NodeId row;
};

/// How many rows end among the first `step` steps of the path, `ends(r)` being the end of row r.
template <class Index, class Ends>
__device__ Index rows_ended(Index step, Index rows, Index links, Ends ends) {
  Index least = step > links ? step - links : 0;
  Index most = step < rows ? step : rows;
  while (least < most) {
    const Index middle = least + (most - least) / 2;
    if (ends(middle) <= step - middle - 1) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return least;
}

template <class T>
__global__ void find_tiles(CsrView<T> matrix, unsigned tile_steps, std::uint64_t tiles,
                           PathPoint* begins) {
  const std::uint64_t tile = global_thread_index();
  if (tile > tiles) return;
  const std::uint64_t path = matrix.rows + matrix.links;
  const std::uint64_t step = tile * tile_steps < path ? tile * tile_steps : path;
  const std::uint64_t row = rows_ended<std::uint64_t>(
      step, matrix.rows, matrix.links, [&](std::uint64_t r) { return matrix.row_offsets[r + 1]; });
  begins[tile] = {step - row, static_cast<NodeId>(row)};
}

/// A block a tile.
template <class T>
__global__ void find_row_ends(CsrView<T> matrix, const PathPoint* begins, RowEnd* row_ends) {
  const PathPoint begin = begins[blockIdx.x];
  const std::uint64_t end = begins[blockIdx.x + 1].row;
  for (std::uint64_t row = std::uint64_t{begin.row} + threadIdx.x; row < end; row += block_size) {
    row_ends[row] = static_cast<RowEnd>(matrix.row_offsets[row + 1] - begin.link);
  }
}

/// products[i] = the tile's i-th product, for `links` products from link `begin` on. All loads of a
/// thread are under way at once, and a warp's are of whole cache lines.
template <class T>
__device__ void gather_products(const CsrView<T>& matrix, EdgeIndex begin, unsigned links,
                                const T* x, T* products) {
  // The thread's first link, counted from the tile's: below zero, which is a huge number, for those
  // between the beginning of the line and that of the tile.
  const unsigned first = threadIdx.x - static_cast<unsigned>(begin % line_links);
  NodeId columns[steps_per_thread];
  T terms[steps_per_thread];
#pragma unroll
  for (unsigned step = 0; step < steps_per_thread; ++step) {
    const unsigned i = first + step * block_size;
    columns[step] = i < links ? load_once(matrix.column_indices + begin + i) : 0;
    terms[step] = T(1);
  }
  if (matrix.values != nullptr) {
#pragma unroll
    for (unsigned step = 0; step < steps_per_thread; ++step) {
      const unsigned i = first + step * block_size;
      if (i < links) terms[step] = load_once(matrix.values + begin + i);
    }
  }
#pragma unroll
  for (unsigned step = 0; step < steps_per_thread; ++step) {
    const unsigned i = first + step * block_size;
    if (i < links) terms[step] *= x[columns[step]];
  }
#pragma unroll
  for (unsigned step = 0; step < steps_per_thread; ++step) {
    const unsigned i = first + step * block_size;
    if (i < links) products[i] = terms[step];
  }
}

/// The part of a row that lies in a tile: its links [begin, end), counted from the tile's first.
struct Piece {
  unsigned begin, end;
  [[nodiscard]] __device__ unsigned length() const { return end - begin; }
};

/// A tile of the merge path: pieces 0 .. rows - 1 are the ends of as many rows, piece `rows` is the
/// beginning of a row that goes on in the next tile.
struct Tile {
  __device__ Tile(const PathPoint* begins, const RowEnd* ends, std::uint64_t t)
      : first_link(begins[t].link),
        first_row(begins[t].row),
        links(static_cast<unsigned>(begins[t + 1].link - first_link)),
        rows(begins[t + 1].row - first_row),
        row_ends(ends + first_row) {}

  [[nodiscard]] __device__ Piece piece(unsigned r) const {
    return {r > 0 ? row_ends[r - 1] : 0U, r < rows ? row_ends[r] : links};
  }
  /// Leaves the sum of piece r where it belongs.
  template <class T>
  __device__ void finish(unsigned r, double sum, T* y, Carry& carry) const {
    if (r < rows) {
      y[first_row + r] = static_cast<T>(sum);
    } else {
      carry = {sum, first_row + rows};
    }
  }

  EdgeIndex first_link;
  NodeId first_row;
  unsigned links, rows;
  const RowEnd* row_ends;
};

/// Sum is a RowSum: that of floats, which adds in double as it comes, or that of doubles.
template <class T, class Sum>
__global__ void __launch_bounds__(block_size,
                                  resident_blocks(block_size, blocks_per_multiprocessor<T>))
    multiply_staged(CsrView<T> matrix, const PathPoint* begins, const RowEnd* row_ends, const T* x,
                    T* y, Carry* carries) {
  __shared__ T products[staged_steps];
  __shared__ unsigned long_pieces[staged_steps / long_piece + 1];
  __shared__ unsigned long_count;
  let_next_kernel_begin();
  const Tile tile(begins, row_ends, blockIdx.x);
  if (threadIdx.x == 0) long_count = 0;
  gather_products(matrix, tile.first_link, tile.links, x, products);
  __syncthreads();

  for (unsigned r = threadIdx.x; r <= tile.rows; r += block_size) {
    const Piece piece = tile.piece(r);
    if (piece.length() > long_piece) {
      long_pieces[atomicAdd(&long_count, 1)] = r;  // in any order: each is added up by itself
      continue;
    }
    Sum sum{};
    for (unsigned i = piece.begin; i < piece.end; ++i) sum.add(products[i]);
    tile.finish(r, sum.value(), y, carries[blockIdx.x]);
  }
  __syncthreads();

  const unsigned lane = threadIdx.x % warp_size;
  for (unsigned l = threadIdx.x / warp_size; l < long_count; l += block_size / warp_size) {
    const Piece piece = tile.piece(long_pieces[l]);
    Sum sum{};
    for (unsigned i = piece.begin + lane; i < piece.end; i += warp_size) sum.add(products[i]);
    sum.add_over_warp();
    if (lane == 0) tile.finish(long_pieces[l], sum.value(), y, carries[blockIdx.x]);
  }
}

/// A warp a tile, straight from memory: for rows so long that a warp keeps its lanes busy.
template <class T, class Sum>
__global__ void multiply_direct(CsrView<T> matrix, const PathPoint* begins, const RowEnd* row_ends,
                                std::uint64_t tiles, const T* x, T* y, Carry* carries) {
  let_next_kernel_begin();
  const std::uint64_t t = global_thread_index() / warp_size;
  if (t >= tiles) return;  // the whole warp leaves together
  const unsigned lane = threadIdx.x % warp_size;
  const Tile tile(begins, row_ends, t);
  const CsrView<T> links{matrix.rows, matrix.links, matrix.row_offsets,
                         matrix.column_indices + tile.first_link,
                         matrix.values != nullptr ? matrix.values + tile.first_link : nullptr};
  for (unsigned begin = 0; begin <= tile.rows; begin += warp_size) {
    const unsigned r = begin + lane;
    const Piece piece = r <= tile.rows ? tile.piece(r) : Piece{0, 0};
    const bool is_long = piece.length() > warp_size / 2;
    for (unsigned left = __ballot_sync(full_warp, is_long); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const unsigned end = __shfl_sync(full_warp, piece.end, owner);
      Sum sum{};
#pragma unroll 4
      for (unsigned i = __shfl_sync(full_warp, piece.begin, owner) + lane; i < end;
           i += warp_size) {
        const T gathered = x[load_once(links.column_indices + i)];
        sum.add(links.values != nullptr ? load_once(links.values + i) * gathered : gathered);
      }
      sum.add_over_warp();
      if (lane == 0) tile.finish(begin + static_cast<unsigned>(owner), sum.value(), y, carries[t]);
    }
    if (r <= tile.rows && !is_long) {
      Sum sum{};
      for (unsigned i = piece.begin; i < piece.end; ++i) sum.add(links.product(i, x));
      tile.finish(r, sum.value(), y, carries[t]);
    }
  }
}

/// y of a row that crosses tiles is what its last tile found: adds what the tiles before it carry.
/// A thread a tile; a row that crosses many tiles is added up by the whole warp.
template <class T, class Sum>
__global__ void add_carries(const Carry* carries, std::uint64_t tiles, std::uint64_t rows, T* y) {
  let_next_kernel_begin();
  const std::uint64_t tile = global_thread_index();
  const unsigned lane = threadIdx.x % warp_size;
  wait_for_kernel_before();  // every thread: the next kernel waits for this one alone
  Carry carry{0, 0};
  bool first = false, more = false;  // of the row's carries
  if (tile < tiles) {
    carry = carries[tile];
    first = carry.row < rows && (tile == 0 || carries[tile - 1].row != carry.row);
    more = first && tile + 1 < tiles && carries[tile + 1].row == carry.row;
  }
  for (unsigned left = __ballot_sync(full_warp, more); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const NodeId row = __shfl_sync(full_warp, carry.row, owner);
    Sum sum{};
    for (std::uint64_t t = tile + static_cast<unsigned>(owner); t < tiles && carries[t].row == row;
         t += warp_size) {
      sum.add(carries[t].sum);
    }
    sum.add_over_warp();
    const double whole = __shfl_sync(full_warp, sum.value(), 0);
    if (lane == static_cast<unsigned>(owner)) carry.sum = whole;
  }
  if (first && carry.sum != 0) y[carry.row] = static_cast<T>(y[carry.row] + carry.sum);
}

/// How a matrix is cut.
struct Cut {
  Cut(std::uint64_t rows, EdgeIndex links, std::size_t value_bytes)
      : direct(rows * value_bytes <= most_direct_bytes && links / rows >= least_direct_mean),
        steps(direct ? direct_steps : steps_of_staged(rows + links)),
        tiles((rows + links + steps - 1) / steps) {}
  bool direct;
  unsigned steps;
  std::uint64_t tiles;

 private:
  static unsigned steps_of_staged(std::uint64_t path) {
    const std::uint64_t each = (path + least_tiles - 1) / least_tiles;
    return static_cast<unsigned>(std::clamp<std::uint64_t>(each, least_staged_steps, staged_steps));
  }
};

std::size_t bytes_for(std::uint64_t nodes, EdgeIndex links, std::size_t value_bytes) {
  const Cut cut(nodes, links, value_bytes);
  return (cut.tiles + 1) * sizeof(PathPoint) + cut.tiles * sizeof(Carry) + nodes * sizeof(RowEnd);
}

std::size_t extra_bytes(const MatrixFacts& matrix, std::size_t value_bytes) {
  return bytes_for(matrix.node_count(), matrix.link_count(), value_bytes);
}

template <class T, class Sum = RowSum<float>>
class BalancedSpmv final : public Spmv<T> {
 public:
  /// Of the matrix it needs no more than the rows before it multiplies.
  BalancedSpmv(CsrView<T> matrix, const std::optional<ScratchMemory>& reserved, cudaStream_t stream)
      : matrix_(matrix),
        cut_(matrix.rows, matrix.links, sizeof(T)),
        begins_(cut_.tiles + 1, reserved),
        row_ends_(matrix.rows, reserved),
        carries_(cut_.tiles, reserved) {
    find_tiles<<<blocks_for(cut_.tiles + 1, block_size), block_size, 0, stream>>>(
        matrix, cut_.steps, cut_.tiles, begins_.data());
    PAGERANK_CUDA_LAUNCHED(find_tiles);
    find_row_ends<<<static_cast<unsigned>(cut_.tiles), block_size, 0, stream>>>(
        matrix, begins_.data(), row_ends_.data());
    PAGERANK_CUDA_LAUNCHED(find_row_ends);
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    if (cut_.direct) {
      multiply_direct<T, Sum>
          <<<blocks_for(cut_.tiles * warp_size, block_size), block_size, 0, stream>>>(
              matrix_, begins_.data(), row_ends_.data(), cut_.tiles, x, y, carries_.data());
      PAGERANK_CUDA_LAUNCHED(multiply_direct);
    } else {
      multiply_staged<T, Sum><<<static_cast<unsigned>(cut_.tiles), block_size, 0, stream>>>(
          matrix_, begins_.data(), row_ends_.data(), x, y, carries_.data());
      PAGERANK_CUDA_LAUNCHED(multiply_staged);
    }
    launch_overlapping(add_carries<T, Sum>, blocks_for(cut_.tiles, block_size), block_size, 0,
                       stream, carries_.data(), cut_.tiles, matrix_.rows, y);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    const std::uint64_t row_offset_bytes = (matrix_.rows + 1) * sizeof(EdgeIndex);  // are not read
    return matrix_.bytes_to_multiply() - row_offset_bytes + row_ends_.size() * sizeof(RowEnd) +
           begins_.size() * sizeof(PathPoint) + 2 * carries_.size() * sizeof(Carry);
  }

 private:
  CsrView<T> matrix_;
  Cut cut_;
  DeviceBuffer<PathPoint> begins_;
  DeviceBuffer<RowEnd> row_ends_;
  DeviceBuffer<Carry> carries_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  return std::make_unique<BalancedSpmv<T>>(graph.arriving_in_links(), graph.reserved(), stream);
}

}  // namespace

std::unique_ptr<Spmv<double>> make_compensated_spmv(const CsrView<double>& matrix,
                                                    const std::optional<ScratchMemory>& reserved,
                                                    cudaStream_t stream) {
  return std::make_unique<BalancedSpmv<double, RowSum<double>>>(matrix, reserved, stream);
}

std::size_t compensated_spmv_bytes(std::uint64_t nodes, EdgeIndex links) {
  return bytes_for(nodes, links, sizeof(double));
}

extern const SpmvKernel spmv_balanced;
const SpmvKernel spmv_balanced{"balanced", "the same number of steps for every block (merge path)",
                               extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
