// Two passes over pieces of x and of the result that fit into shared memory, so that no gather goes
// further than that. What a plain kernel waits for is x: a gather from L2 is five times slower than
// one from shared memory, a gather from HBM twenty times. Here each piece of x, a window, is copied
// to shared memory once, and all links out of it are added up there, by 16-bit ids.
//
// Ten nodes, windows of five sources, row blocks of rows 0..4 and 5..9 (x: a link):
//
//           window 0    window 1     a run is what a row has in a window:
//           0 1 2 3 4   5 6 7 8 9    its links' x are added up in pass 1, to a partial sum
//   row 0   . x . x . | . . x . .    p1 = x1 + x3        p3 = x7
//   row 1   x . . . . | . . . . .    p0 = x0
//   row 3   . . x . x | x x . . x    p2 = x2 + x4        p4 = x5 + x6 + x9
//          -----------+-----------
//   row 8   . . . . . | . . . x .                        p5 = x8      (all other rows: none)
//
//   pass 1  lists of ids within the window (before rows are renumbered within their blocks), a
//           lane each, those of a row block by length (up and down in turn, so that neighbours are
//           alike); - is the element behind the window, which is 0:
//             window 0   lane 0: 0 -   lane 1: 1 3   lane 2: 2 4
//             window 1   lane 0: 2 - -   lane 1: 0 1 4   lane 2: 3 - -
//           lane by lane they are p0 p1 p2 and p3 p4 p5: stored as they come, 32 at a time.
//   pass 2  row block 0 fetches a segment of each window, p0 p1 p2 and p3 p4, to slots 1..5 (slot 0
//           is 0), and adds up lists of slots: row 0: 2 4   row 3: 3 5   row 1: 1 0   others: none.
//           Row block 1 fetches p5 to slot 1; row 8: 1.
//
// Both passes add up short lists of ids of shared memory, and do it alike (slices.cuh): 32 lists of
// about equal length side by side, a lane each, no shuffles, no atomics, every load 128 bytes.
// Only rows of more than 128 runs have a warp each, and giants, whose runs would take more than an
// eighth of a row block, one for each 1024 of them, of which the last to be done adds up what all
// have. (What a row has in a window may be several runs where that is very much: BlockedShape.)
// Nodes are renumbered so that long lists and windows that are used a lot come together, and rows
// of a row block by falling number of runs. A link costs two bytes and what its run's partial sum
// costs, about ten bytes: the layout lives from runs that are longer than one link.
// Partial sums are to stay in L2 between the passes: they are stored last to be evicted, and when
// they have been fetched L2 is told to forget them. blocked_layout.cu prepares the layout. The idea
// is propagation blocking (S. Beamer, K. Asanovic, D. Patterson: Reducing PageRank Communication
// via Propagation Blocking, IPDPS 2017) with sums in place of single contributions, and sliced
// ELLPACK within (A. Monakov et al., HiPEAC 2010).
#include "gpu/blocked_layout.cuh"
#include "gpu/cache_policy.cuh"
#include "gpu/launch_bounds.cuh"
#include "gpu/overlapping_launch.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/spmv.cuh"
#include "gpu/zero_spmv.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
struct GatherArguments {
  std::uint64_t rows;
  std::uint32_t window_size;
  SlicesView slices;
  const T* values;
  const std::uint32_t* pieces;
  const std::uint32_t* block_pieces;
  const SliceRange* ranges;
};

/// x[first .. first + window_size), as far as there is any, to shared memory; without waiting.
template <class T>
__device__ void fetch_window(const T* x, std::uint64_t rows, std::uint64_t first,
                             std::uint32_t window_size, T* window) {
  constexpr unsigned at_once = 16 / sizeof(T);
  const auto size = static_cast<std::uint32_t>(min(rows - first, std::uint64_t{window_size}));
  for (std::uint32_t i = threadIdx.x * at_once; i + at_once <= size;
       i += gather_threads * at_once) {
    __pipeline_memcpy_async(window + i, x + first + i, 16);
  }
  const std::uint32_t whole = size / at_once * at_once;
  if (threadIdx.x < size - whole) window[whole + threadIdx.x] = x[first + whole + threadIdx.x];
}

/// Pass 1: a partial sum of each run. As many blocks as there are multiprocessors, each with its
/// share of windows.
template <class T, bool weighted>
__global__ void __launch_bounds__(gather_threads, 1)
    gather_runs(GatherArguments<T> arguments, const T* x, T* partials) {
  extern __shared__ __align__(16) unsigned char shared[];
  T* const window = reinterpret_cast<T*>(shared);
  constexpr unsigned warps = gather_threads / warp_size;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::uint32_t window_size = arguments.window_size;
  let_next_kernel_begin();
  if (threadIdx.x == 0) window[window_size] = 0;
  const std::uint32_t end = arguments.block_pieces[blockIdx.x + 1];
  for (std::uint32_t p = arguments.block_pieces[blockIdx.x]; p < end; ++p) {
    __syncthreads();  // the window before is done with
    fetch_window(x, arguments.rows, std::uint64_t{arguments.pieces[p]} * window_size, window_size,
                 window);
    __pipeline_commit();
    const SliceRange range = arguments.ranges[std::uint64_t{p} * warps + warp];
    SliceWalk<false> walk(arguments.slices, range);
    __pipeline_wait_prior(0);
    __syncthreads();
    T* const out = partials + std::uint64_t{range.slice} * warp_size + lane;
    walk.template sum<weighted, false>(window, arguments.values, out, out);
  }
}

template <class T>
struct CombineArguments {
  std::uint64_t rows;
  std::uint32_t windows;
  const RowBlock* row_blocks;
  const Segment* segments;
  const std::uint64_t* window_partials;
  SlicesView slices;
  const SliceRange* ranges;
  const LongRow* long_rows;
  const std::uint16_t* long_ids;
  const Giant* giants;
  const std::uint32_t* giant_of_piece;
  double* piece_sums;           ///< Of giants.
  std::uint32_t* pieces_ready;  ///< Of each giant; 0 before and after.
};

/// A segment's partial sums in global memory.
template <class T>
__device__ const T* segment_begin(const CombineArguments<T>& arguments, const T* partials,
                                  std::uint32_t window, const Segment& segment) {
  return partials + arguments.window_partials[window] + segment.begin;
}

/// A row block's partial sums to shared memory, segment by segment, a warp each; without waiting
/// for them. Each lane knows a segment, so that segments are waited for once, not one after the
/// other.
template <class T>
__device__ void fetch_segments(const CombineArguments<T>& arguments, const Segment* segments,
                               const T* partials, T* slots) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const unsigned warps = blockDim.x / warp_size;
  for (std::uint32_t first = warp; first < arguments.windows; first += warps * warp_size) {
    const std::uint32_t window = first + lane * warps;
    Segment mine{};
    const T* begin = nullptr;
    if (window < arguments.windows) {
      mine = segments[window];
      begin = segment_begin(arguments, partials, window, mine);
    }
    wait_for_kernel_before();
    for (unsigned k = 0; k < warp_size && first + k * warps < arguments.windows; ++k) {
      const auto* const from = reinterpret_cast<const T*>(
          __shfl_sync(full_warp, reinterpret_cast<std::uint64_t>(begin), k));
      const unsigned length = __shfl_sync(full_warp, mine.length, k);
      T* const to = slots + __shfl_sync(full_warp, mine.slot, k);
      // Whole lines: as if the segment began where a multiple of the lanes does.
      const auto before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) / sizeof(T));
      for (unsigned i = (lane - before) % warp_size; i < length; i += warp_size) {
        copy_once_async(to + i, from + i);
      }
    }
  }
}

/// Notes the sum of a giant's piece; the warp that brings the last adds them up, in their order
/// whoever that is. For a whole warp, the sum in lane 0.
template <class T>
__device__ void add_piece(const CombineArguments<T>& arguments, std::uint64_t piece, double sum,
                          T* y) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint32_t index = arguments.giant_of_piece[piece];
  const Giant giant = arguments.giants[index];
  const std::uint32_t pieces = giant.end - giant.begin;
  std::uint32_t before = 0;
  if (lane == 0) {
    arguments.piece_sums[piece] = sum;
    __threadfence();
    before = atomicAdd(arguments.pieces_ready + index, 1);
  }
  if (__shfl_sync(full_warp, before, 0) + 1 < pieces) return;
  __syncwarp();
  __threadfence();
  double whole = 0;
  for (std::uint32_t p = giant.begin + lane; p < giant.end; p += warp_size) {
    whole += __ldcg(arguments.piece_sums + p);
  }
  whole = warp_sum(whole);
  if (lane > 0) return;
  y[giant.position] = static_cast<T>(whole);
  arguments.pieces_ready[index] = 0;
}

/// Pass 2: the sums of a block of rows.
template <class T>
__global__ void __launch_bounds__(combine_threads, resident_blocks(combine_threads, combine_blocks))
    combine_runs(CombineArguments<T> arguments, const T* partials, T* y) {
  extern __shared__ __align__(16) unsigned char shared[];
  T* const slots = reinterpret_cast<T*>(shared);
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  constexpr unsigned warps = combine_threads / warp_size;
  const RowBlock rows = arguments.row_blocks[blockIdx.x];
  const Segment* const segments =
      arguments.segments + std::uint64_t{blockIdx.x} * arguments.windows;
  const SliceRange range = arguments.ranges[std::uint64_t{blockIdx.x} * warps + warp];
  SliceWalk<true> walk(arguments.slices, range);
  let_next_kernel_begin();
  if (threadIdx.x == 0) slots[0] = 0;
  fetch_segments(arguments, segments, partials, slots);
  __pipeline_commit();
  for (std::uint64_t i = std::uint64_t{rows.empty_begin} + threadIdx.x; i < rows.end;
       i += blockDim.x) {
    y[i] = 0;
  }
  // (Graphs with more windows than threads have more partial sums than L2 holds anyhow.)
  const T *fetched = nullptr, *fetched_end = nullptr;
  if (threadIdx.x < arguments.windows) {
    const Segment segment = segments[threadIdx.x];
    fetched = segment_begin(arguments, partials, threadIdx.x, segment);
    fetched_end = fetched + segment.length;
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  discard(fetched, fetched_end);

  for (std::uint32_t r = rows.long_begin + warp; r < rows.long_end; r += warps) {
    const LongRow row = arguments.long_rows[r];
    double sum = 0;
    for (std::uint32_t i = lane; i < row.length; i += warp_size) {
      sum += slots[arguments.long_ids[row.first_id + i]];
    }
    sum = warp_sum(sum);
    if (row.target >= arguments.rows) {
      add_piece(arguments, row.target - arguments.rows, sum, y);
    } else if (lane == 0) {
      y[row.target] = static_cast<T>(sum);
    }
    __syncwarp();
  }
  __syncwarp();
  T* const out =
      y + rows.short_begin + std::uint64_t{range.slice - rows.first_slice} * warp_size + lane;
  walk.template sum<false, true>(slots, static_cast<const T*>(nullptr), out, y + rows.empty_begin);
}

/// What preparing takes of every graph: how many runs there are, and whether links are brought into
/// another order, is not known before.
std::size_t extra_bytes(const MatrixFacts& matrix, std::size_t value_bytes) {
  const std::size_t of_link = 2 * sizeof(std::uint16_t) + (matrix.weighted() ? value_bytes : 0);
  return matrix.link_count() * of_link + matrix.node_count() * std::size_t{16};
}

template <class T>
class BlockedSpmv final : public Spmv<T> {
 public:
  BlockedSpmv(const DeviceGraph<T>& graph, cudaStream_t stream)
      : layout_(graph, stream),
        partials_(layout_.partials, layout_.memory),
        piece_sums_(layout_.giant_of_piece.size(), layout_.memory),
        pieces_ready_(layout_.giants.size(), layout_.memory),
        weighted_(layout_.gather_values.size() > 0) {
    pieces_ready_.set_to_zero(stream);
    for (const auto kernel : {gather_runs<T, false>, gather_runs<T, true>}) {
      PAGERANK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(gather_shared())));
    }
    PAGERANK_CUDA(cudaFuncSetAttribute(combine_runs<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(combine_shared())));
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    const GatherArguments<T> gather{.rows = layout_.rows,
                                    .window_size = layout_.shape.window_size,
                                    .slices = layout_.gather_tiles.view(),
                                    .values = layout_.gather_values.data(),
                                    .pieces = layout_.pieces.data(),
                                    .block_pieces = layout_.block_pieces.data(),
                                    .ranges = layout_.gather_ranges.data()};
    const auto kernel = weighted_ ? gather_runs<T, true> : gather_runs<T, false>;
    kernel<<<layout_.gather_blocks, gather_threads, gather_shared(), stream>>>(gather, x,
                                                                               partials_.data());
    PAGERANK_CUDA_LAUNCHED(gather_runs);

    const CombineArguments<T> arguments{.rows = layout_.rows,
                                        .windows = layout_.windows,
                                        .row_blocks = layout_.row_blocks.data(),
                                        .segments = layout_.segments.data(),
                                        .window_partials = layout_.window_partials.data(),
                                        .slices = layout_.combine_tiles.view(),
                                        .ranges = layout_.combine_ranges.data(),
                                        .long_rows = layout_.long_rows.data(),
                                        .long_ids = layout_.long_ids.data(),
                                        .giants = layout_.giants.data(),
                                        .giant_of_piece = layout_.giant_of_piece.data(),
                                        .piece_sums = piece_sums_.data(),
                                        .pieces_ready = pieces_ready_.data()};
    launch_overlapping(combine_runs<T>, static_cast<unsigned>(layout_.row_blocks.size()),
                       combine_threads, combine_shared(), stream, arguments, partials_.data(), y);
  }

  [[nodiscard]] const NodeId* order() const override { return layout_.order.data(); }

  [[nodiscard]] std::uint64_t isolated_nodes() const override {
    return layout_.nodes - layout_.rows;
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return layout_.gather_tiles.bytes() + layout_.gather_values.size() * sizeof(T) +
           layout_.combine_tiles.bytes() + layout_.segments.size() * sizeof(Segment) +
           layout_.long_ids.size() * sizeof(std::uint16_t) + 2 * layout_.runs * sizeof(T) +
           2 * layout_.rows * sizeof(T);
  }

 private:
  [[nodiscard]] std::size_t gather_shared() const {
    return (layout_.shape.window_size + 1) * sizeof(T);
  }
  [[nodiscard]] std::size_t combine_shared() const { return layout_.shape.capacity * sizeof(T); }

  BlockedLayout<T> layout_;
  DeviceBuffer<T> partials_;
  DeviceBuffer<double> piece_sums_;
  DeviceBuffer<std::uint32_t> pieces_ready_;
  bool weighted_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  if (graph.link_count() == 0) return std::make_unique<ZeroSpmv<T>>(graph.node_count());
  return std::make_unique<BlockedSpmv<T>>(graph, stream);
}

}  // namespace

extern const SpmvKernel spmv_blocked;
const SpmvKernel spmv_blocked{.name = "blocked",
                              .lesson = "x in pieces from shared memory, by 16-bit ids, two passes",
                              .extra_bytes = extra_bytes,
                              .make_float = make<float>,
                              .make_double = make<double>,
                              .wide_sums = false};

}  // namespace pagerank::gpu
