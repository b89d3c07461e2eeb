// Every thread does the same number of steps, whatever the rows look like. Walking a CSR matrix is
// merging two lists, the rows' ends and the links: a step either adds a link or finishes a row. The
// merge path is cut into tiles (a block each) and those into equal pieces (a thread each); where a
// piece begins is found by bisection. Rows that cross pieces are joined by a scan within the tile,
// and rows that cross tiles by a second, tiny kernel: fixed orders, no atomics.
// After D. Merrill, M. Garland: Merge-Based Parallel Sparse Matrix-Vector Multiplication (SC 2016).
//
//   row ends  2 4 7 9        links 0..8, 3 steps a thread:
//   thread 0: +0 +1 row0 | thread 1: +2 +3 row1 | thread 2: +4 +5 +6 | thread 3: row2 +7 +8 ...
//                                                  sum goes on  ----> into row 2
#include <cub/block/block_scan.cuh>

#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;
constexpr unsigned steps_per_thread = 8;
constexpr unsigned tile_steps = block_size * steps_per_thread;

/// Where a tile begins on the merge path.
struct PathPoint {
  EdgeIndex link;
  NodeId row;
};

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
__global__ void find_tiles(CsrView<T> matrix, EdgeIndex links, std::uint64_t tiles,
                           PathPoint* begins) {
  const std::uint64_t tile = global_thread_index();
  if (tile > tiles) return;
  const std::uint64_t path = matrix.rows + links;
  const std::uint64_t step = tile * tile_steps < path ? tile * tile_steps : path;
  const std::uint64_t row = rows_ended<std::uint64_t>(
      step, matrix.rows, links, [&](std::uint64_t r) { return matrix.row_offsets[r + 1]; });
  begins[tile] = {step - row, static_cast<NodeId>(row)};
}

/// A sum that belongs to a row; joining keeps the later row, and adds where it is the same.
struct RowPart {
  double sum;
  unsigned row;
};
struct JoinRowParts {
  __device__ RowPart operator()(const RowPart& before, const RowPart& after) const {
    return {before.row == after.row ? before.sum + after.sum : after.sum, after.row};
  }
};

template <class T>
__global__ void __launch_bounds__(block_size)
    multiply_tiles(CsrView<T> matrix, const PathPoint* begins, const T* x, T* y, Carry* carries) {
  using Scan = cub::BlockScan<RowPart, block_size>;
  __shared__ T products[tile_steps];
  __shared__ unsigned row_ends[tile_steps + 1];
  __shared__ typename Scan::TempStorage scan_storage;

  const PathPoint begin = begins[blockIdx.x], end = begins[blockIdx.x + 1];
  const auto links = static_cast<unsigned>(end.link - begin.link);
  const unsigned rows = end.row - begin.row;
#pragma unroll  // so that all of a thread's gathers are under way at once
  for (unsigned step = 0; step < steps_per_thread; ++step) {
    const unsigned i = step * block_size + threadIdx.x;
    if (i < links) products[i] = matrix.product(begin.link + i, x);
  }
  for (unsigned r = threadIdx.x; r < rows; r += block_size) {
    row_ends[r] = static_cast<unsigned>(matrix.row_offsets[begin.row + r + 1] - begin.link);
  }
  if (threadIdx.x == 0) row_ends[rows] = links + 1;  // the last row ends beyond this tile
  __syncthreads();

  const unsigned first_step = min(threadIdx.x * steps_per_thread, links + rows);
  const unsigned last_step = min(first_step + steps_per_thread, links + rows);
  const unsigned first_row =
      rows_ended(first_step, rows, links, [&](unsigned r) { return row_ends[r]; });
  unsigned row = first_row, link = first_step - first_row;
  double sum = 0, first_row_sum = 0;
  for (unsigned step = first_step; step < last_step; ++step) {
    if (link < row_ends[row]) {
      sum += products[link++];
      continue;
    }
    if (row == first_row) {
      first_row_sum = sum;  // earlier threads may hold parts of it
    } else {
      y[begin.row + row] = static_cast<T>(sum);
    }
    sum = 0;
    ++row;
  }

  RowPart before{}, whole{};
  Scan(scan_storage).ExclusiveScan(RowPart{sum, row}, before, RowPart{0, 0}, JoinRowParts(), whole);
  if (row > first_row) {
    if (before.row == first_row) first_row_sum += before.sum;
    y[begin.row + first_row] = static_cast<T>(first_row_sum);
  }
  if (threadIdx.x == 0) carries[blockIdx.x] = {whole.sum, end.row};
}

/// A warp for each row that crosses tiles: y of the row is what its last tile found; add the rest.
template <class T>
__global__ void add_carries(const Carry* carries, std::uint64_t tiles, std::uint64_t rows, T* y) {
  const std::uint64_t first = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (first >= tiles) return;
  const NodeId row = carries[first].row;
  if (row >= rows || (first > 0 && carries[first - 1].row == row)) return;  // the whole warp agrees
  double sum = 0;
  for (std::uint64_t tile = first + lane; tile < tiles && carries[tile].row == row;
       tile += warp_size) {
    sum += carries[tile].sum;
  }
  sum = warp_sum(sum);
  if (lane == 0 && sum != 0) y[row] = static_cast<T>(y[row] + sum);
}

std::uint64_t tile_count(std::uint64_t rows, EdgeIndex links) {
  return (rows + links + tile_steps - 1) / tile_steps;
}

std::size_t extra_bytes(const TransitionMatrix& matrix, std::size_t) {
  const std::uint64_t tiles = tile_count(matrix.node_count(), matrix.link_count());
  return (tiles + 1) * sizeof(PathPoint) + tiles * sizeof(Carry);
}

template <class T>
class BalancedSpmv final : public Spmv<T> {
 public:
  BalancedSpmv(CsrView<T> matrix, EdgeIndex links, cudaStream_t stream)
      : matrix_(matrix),
        tiles_(tile_count(matrix.rows, links)),
        begins_(tiles_ + 1),
        carries_(tiles_) {
    find_tiles<<<blocks_for(tiles_ + 1, block_size), block_size, 0, stream>>>(matrix, links, tiles_,
                                                                              begins_.data());
    PAGERANK_CUDA_LAUNCHED(find_tiles);
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    multiply_tiles<<<static_cast<unsigned>(tiles_), block_size, 0, stream>>>(
        matrix_, begins_.data(), x, y, carries_.data());
    PAGERANK_CUDA_LAUNCHED(multiply_tiles);
    add_carries<<<blocks_for(tiles_ * warp_size, block_size), block_size, 0, stream>>>(
        carries_.data(), tiles_, matrix_.rows, y);
    PAGERANK_CUDA_LAUNCHED(add_carries);
  }

 private:
  CsrView<T> matrix_;
  std::uint64_t tiles_;
  DeviceBuffer<PathPoint> begins_;
  DeviceBuffer<Carry> carries_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  return std::make_unique<BalancedSpmv<T>>(graph.in_links(), graph.link_count(), stream);
}

}  // namespace

extern const SpmvKernel spmv_balanced;
const SpmvKernel spmv_balanced{"balanced", "the same number of steps for every thread (merge path)",
                               extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
