// Links sorted by window and cut into runs. A radix sort of all links would move each with its row,
// 8 bytes read and written, and runs would have to be found and sorted by row after that. Here a
// block sorts a tile of neighbouring links in shared memory and counts what it has in each window;
// sums of the counts tell where links and runs go, also by row, for a tile has rows one after the
// other. A run ends with its tile: what a long row has in a window may be some runs more.
#include "gpu/link_runs.cuh"

#include <cuda_pipeline.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <string>

#include "gpu/blocked_layout.cuh"
#include "gpu/launch_bounds.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/row_links.cuh"
#include "gpu/tile_sort.cuh"

namespace pagerank::gpu {
namespace {

/// Of a tile in a window; or of all windows before, and in this one all tiles before, links modulo
/// 2^32.
struct LinksAndRuns {
  std::uint32_t links, runs;
  __host__ __device__ friend LinksAndRuns operator+(LinksAndRuns a, LinksAndRuns b) {
    return {a.links + b.links, a.runs + b.runs};
  }
};

/// Sorts each tile; counts[tile * windows + window], of windows that it has links in, and its runs.
__global__ void __launch_bounds__(tile_threads, resident_blocks(tile_threads, 2))
    sort_tiles(Tiling tiling, SortedLink* sorted, LinksAndRuns* counts,
               std::uint32_t* runs_of_tile) {
  extern __shared__ __align__(16) unsigned char shared[];
  TileMemory& memory = *reinterpret_cast<TileMemory*>(shared);
  const SortedTile tile(tiling, memory);
#pragma unroll
  for (unsigned k = 0; k < links_of_thread; ++k) {
    if (place(k) < tile.size()) sorted[tile_begin() + place(k)] = tile.link(k);
  }
  LinksAndRuns* const of_window = counts + std::uint64_t{blockIdx.x} * tiling.windows;
  const auto count_piece = [&](unsigned end) {  // which ends there
    const unsigned begin = memory.pieces.begin(end - 1);
    of_window[window_of_group(memory.groups[begin])] = {
        end - begin, memory.run_begins.rank(end) - memory.run_begins.rank(begin)};
  };
  for (unsigned left = tile.piece_begins(); left != 0; left &= left - 1) {
    const unsigned at = place(static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1);
    if (at > 0) count_piece(at);
  }
  if (threadIdx.x == 0) {
    count_piece(tile.size());
    runs_of_tile[blockIdx.x] = memory.run_begins.rank(tile.size());
  }
}

/// Where a tile's links and runs go.
template <class T>
struct RunsView {
  const LinksAndRuns* before;            ///< By tile and window.
  const std::uint32_t* before_tile;      ///< Runs.
  const std::uint64_t* links_of_window;  ///< Null: 32 bits tell.
  std::uint32_t* begin;
  NodeId* row;
  std::uint16_t* local_of_link;
  std::uint32_t *by_row, *begin_of_row;
  const T* values;  ///< Null: none.
  T* sorted_values;
};

/// What a block writes a tile from: no more than the 64 KiB of GPUs with the least.
struct WriterMemory {
  NodeId columns[links_of_tile];      ///< Before sorting.
  NodeId rows[links_of_tile];         ///< That have links.
  TileBits row_begins, first_of_run;  ///< Before sorting. The latter: the first link of each run.
  TileBits run_begins;                ///< After sorting.
  TilePieces pieces;                  ///< After sorting.
};
static_assert(sizeof(WriterMemory) <= 64 << 10);

/// The tile's columns to shared memory; without waiting.
__device__ void fetch_columns(const RowLinksView& links, unsigned size, NodeId* columns) {
  constexpr unsigned at_once = 4;  // a tile begins at a multiple of 16 bytes
  static_assert(links_of_tile % at_once == 0);
  const NodeId* const of_tile = links.columns + tile_begin();
  const unsigned whole = size / at_once * at_once;
  for (unsigned i = threadIdx.x * at_once; i < whole; i += tile_threads * at_once) {
    __pipeline_memcpy_async(columns + i, of_tile + i, at_once * sizeof(NodeId));
  }
  if (threadIdx.x < size - whole) columns[whole + threadIdx.x] = of_tile[whole + threadIdx.x];
  __pipeline_commit();
}

/// All but the rows.
__device__ void read_tile(const RowLinksView& links, const SortedLink* sorted, unsigned size,
                          WriterMemory& memory) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  fetch_columns(links, size, memory.columns);
  clear_row_begins(memory.row_begins);
  for (unsigned w = threadIdx.x; w < words_of_tile; w += tile_threads) {
    memory.first_of_run.words[w] = 0;
  }
  __syncthreads();
  mark_row_begins(links, memory.row_begins);
  std::uint32_t run_word = 0, piece_word = 0;  // of lane k those of place(k)
#pragma unroll
  for (unsigned k = 0; k < links_of_thread; ++k) {
    const bool there = place(k) < size;
    const SortedLink link = there ? sorted[tile_begin() + place(k)] : SortedLink{};
    if (link.begins_run()) memory.first_of_run.set(link.number());
    const unsigned runs = __ballot_sync(full_warp, link.begins_run()),
                   pieces = __ballot_sync(full_warp, link.begins_piece());
    if (lane == k) {
      run_word = runs;
      piece_word = pieces;
    }
  }
  if (lane < links_of_thread) {
    memory.run_begins.words[warp * links_of_thread + lane] = run_word;
    memory.pieces.words[warp * links_of_thread + lane] = piece_word;
  }
  __syncthreads();
  memory.run_begins.count(run_word);
  memory.pieces.find_last(piece_word);
  memory.row_begins.count();
  memory.first_of_run.count();
  __syncthreads();
  memory.run_begins.finish_counting();
  memory.pieces.finish_finding();
  memory.row_begins.finish_counting();
  memory.first_of_run.finish_counting();
  __pipeline_wait_prior(0);
  __syncthreads();
}

/// Which row each of the tile's is that has links, and of those that begin there their first run,
/// by row.
__device__ void write_rows(const RowLinksView& links, std::uint32_t runs_before,
                           std::uint32_t* begin_of_row, WriterMemory& memory) {
  for_each_row(links, [&](NodeId row, unsigned at, bool has_links) {
    begin_of_row[row] = runs_before + memory.first_of_run.rank(at);
    if (has_links) memory.rows[memory.row_begins.rank(at)] = row;
  });
  const NodeId first = links.tile_rows[blockIdx.x];
  if (threadIdx.x == 0 && links.offsets[first] > tile_begin()) memory.rows[0] = first - 1;
  __syncthreads();
}

/// The links, their values and runs of each tile.
template <class T>
__global__ void __launch_bounds__(tile_threads, resident_blocks(tile_threads, 3))
    write_runs(Tiling tiling, const SortedLink* sorted, RunsView<T> runs) {
  extern __shared__ __align__(16) unsigned char shared[];
  WriterMemory& memory = *reinterpret_cast<WriterMemory*>(shared);
  const unsigned size = tile_size(tiling.links);
  const std::uint32_t before_tile = runs.before_tile[blockIdx.x];
  read_tile(tiling.links, sorted, size, memory);
  write_rows(tiling.links, before_tile, runs.begin_of_row, memory);
  const LinksAndRuns* const before = runs.before + std::uint64_t{blockIdx.x} * tiling.windows;
#pragma unroll 2
  for (unsigned k = 0; k < links_of_thread; ++k) {
    const unsigned at = place(k);
    if (at >= size) break;
    const SortedLink link = sorted[tile_begin() + at];
    const unsigned number = link.number(), piece = memory.pieces.begin(at);
    const NodeId column = memory.columns[number];
    const std::uint32_t window = tiling.window_of(column);
    const LinksAndRuns of_piece = before[window];
    std::uint64_t to = of_piece.links;
    if (runs.links_of_window != nullptr)
      to = first_link(of_piece.links, runs.links_of_window[window]);
    to += at - piece;
    runs.local_of_link[to] = static_cast<std::uint16_t>(column - window * tiling.window_size);
    if (runs.values != nullptr) runs.sorted_values[to] = runs.values[tile_begin() + number];
    if (!link.begins_run()) continue;
    const std::uint32_t run =
        of_piece.runs + (memory.run_begins.rank(at) - memory.run_begins.rank(piece));
    runs.begin[run] = static_cast<std::uint32_t>(to);
    runs.row[run] = memory.rows[memory.row_begins.rank_through(number) - 1];
    runs.by_row[before_tile + memory.first_of_run.rank(number)] = run;
  }
}

constexpr std::uint64_t tiles_of_sum = 128;

/// Adds up the counts of each window, of so many tiles a thread.
__global__ void add_up_windows(const LinksAndRuns* counts, std::uint64_t tiles,
                               std::uint32_t windows, unsigned long long* links,
                               unsigned long long* runs) {
  const std::uint64_t index = global_thread_index();
  const std::uint64_t window = index % windows, first = index / windows * tiles_of_sum;
  unsigned long long link_sum = 0, run_sum = 0;
  for (std::uint64_t tile = first; tile < min(first + tiles_of_sum, tiles); ++tile) {
    const LinksAndRuns count = counts[tile * windows + window];
    link_sum += count.links;
    run_sum += count.runs;
  }
  if (link_sum == 0) return;
  atomicAdd(links + window, link_sum);
  atomicAdd(runs + window, run_sum);
}

/// The counts window by window, which tile by tile are written.
struct WindowByWindow {
  std::uint64_t tiles, windows;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    return i % tiles * windows + i / tiles;
  }
};

void require_memory(std::size_t bytes, const ScratchMemory& scratch) {
  const std::size_t available = scratch.available();
  if (bytes > available) throw OutOfMemory("the GPU", bytes, available);
}

/// Bytes that follow on counting the links at most, besides and for each run: in scratch memory,
/// and where the layout keeps what it is.
struct BytesOfRuns {
  std::size_t scratch, scratch_of_run, kept, kept_of_run;
  double segments_of_run;  ///< Of full row blocks.
};

/// What is kept cannot have what scratch memory has to spare.
void require_memory(const BytesOfRuns& bytes, std::uint64_t runs, const ScratchMemory& scratch,
                    const ScratchMemory& kept) {
  const std::size_t available = kept.available();
  const std::size_t spare = scratch.available() - std::min(scratch.available(), available);
  const auto segments = static_cast<std::size_t>(static_cast<double>(runs) * bytes.segments_of_run);
  const std::size_t of_scratch =
      bytes.scratch + runs * bytes.scratch_of_run + segments * sizeof(std::uint32_t);
  const std::size_t needed = bytes.kept + runs * bytes.kept_of_run + segments * sizeof(Segment) +
                             of_scratch - std::min(of_scratch, spare);
  if (needed > available) throw OutOfMemory("the GPU", needed, available);
}

/// See RowLinksView.
DeviceBuffer<NodeId> find_tile_rows(const EdgeIndex* offsets, std::uint64_t rows,
                                    std::uint64_t links, DeviceAlgorithms& algorithms) {
  const std::uint64_t tiles = Tiling::tiles_of(links);
  DeviceBuffer<NodeId> tile_rows(tiles + 1, algorithms.scratch());
  NodeId* const first_row = tile_rows.data();
  queue_for_each(
      rows + 1,
      [=] __device__(std::uint64_t row) {
        const std::uint64_t begin = row == 0 ? 0 : offsets[row - 1] / links_of_tile + 1;
        const std::uint64_t end = min(offsets[row] / links_of_tile + 1, tiles);
        for (std::uint64_t tile = begin; tile < end; ++tile) {
          first_row[tile] = static_cast<NodeId>(row);
        }
        if (row == rows) first_row[tiles] = static_cast<NodeId>(rows + 1);
      },
      algorithms.stream());
  return tile_rows;
}

template <class Memory, class Kernel>
void allow(Kernel kernel) {
  PAGERANK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(sizeof(Memory))));
}

/// The tiles sorted, and what they have for each window, added up.
struct SortedTiles {
  DeviceBuffer<SortedLink> links;
  DeviceBuffer<LinksAndRuns> before;        ///< By tile and window.
  DeviceBuffer<std::uint32_t> runs_before;  ///< Of each tile.
};

/// Also runs.of_window, links_of_window and count.
SortedTiles sort_in_tiles(const Tiling& tiling, Runs& runs, DeviceAlgorithms& algorithms) {
  const ScratchMemory& scratch = algorithms.scratch();
  cudaStream_t stream = algorithms.stream();
  const std::uint64_t count = tiling.tiles(), windows = tiling.windows;
  SortedTiles sorted{.links = DeviceBuffer<SortedLink>(tiling.links.links, scratch),
                     .before = DeviceBuffer<LinksAndRuns>(count * windows, scratch),
                     .runs_before = DeviceBuffer<std::uint32_t>(count, scratch)};
  sorted.before.set_to_zero(stream);
  allow<TileMemory>(sort_tiles);
  sort_tiles<<<static_cast<unsigned>(count), tile_threads, sizeof(TileMemory), stream>>>(
      tiling, sorted.links.data(), sorted.before.data(), sorted.runs_before.data());
  PAGERANK_CUDA_LAUNCHED(sort_tiles);
  runs.of_window = DeviceBuffer<std::uint64_t>(windows + 1, scratch);
  runs.links_of_window = DeviceBuffer<std::uint64_t>(windows + 1, scratch);
  DeviceBuffer<unsigned long long> links_in(windows + 1, scratch), runs_in(windows + 1, scratch);
  links_in.set_to_zero(stream);
  runs_in.set_to_zero(stream);
  constexpr unsigned block_size = 256;
  add_up_windows<<<blocks_for((count + tiles_of_sum - 1) / tiles_of_sum * windows, block_size),
                   block_size, 0, stream>>>(sorted.before.data(), count, tiling.windows,
                                            links_in.data(), runs_in.data());
  PAGERANK_CUDA_LAUNCHED(add_up_windows);
  algorithms.exclusive_sum(links_in.data(), runs.links_of_window.data(), windows + 1);
  algorithms.exclusive_sum(runs_in.data(), runs.of_window.data(), windows + 1);
  algorithms.exclusive_sum(sorted.runs_before.data(), sorted.runs_before.data(), count);
  algorithms.exclusive_sum_in_place(
      thrust::make_permutation_iterator(
          sorted.before.data(),
          thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0),
                                          WindowByWindow{count, windows})),
      count * windows);
  for (const std::uint64_t links :
       algorithms.fetch(reinterpret_cast<const std::uint64_t*>(links_in.data()), windows)) {
    if (links > 0xffffffff) {
      throw KernelRefused("kernel blocked: more than 2^32 - 1 links from neighbouring nodes");
    }
  }
  runs.count = algorithms.fetch(runs.of_window.data() + windows);
  if (runs.count >= 0xffffffff) {
    throw KernelRefused("kernel blocked: " + std::to_string(runs.count) +
                        " runs of links, at most 2^32 - 2 are possible");
  }
  return sorted;
}

/// All of `found` but what sort_in_tiles() has counted.
template <class T>
void write_tiles(const Tiling& tiling, const SortedTiles& sorted, const T* values,
                 LinkRuns<T>& found, DeviceAlgorithms& algorithms) {
  const ScratchMemory& scratch = algorithms.scratch();
  const EdgeIndex links = tiling.links.links;
  const std::uint64_t rows = tiling.links.rows;
  Runs& runs = found.runs;
  runs.begin = DeviceBuffer<std::uint32_t>(runs.count + 1, scratch);
  runs.row = DeviceBuffer<NodeId>(runs.count, scratch);
  runs.local_of_link = DeviceBuffer<std::uint16_t>(links, scratch);
  found.values = DeviceBuffer<T>(values != nullptr ? links : 0, scratch);
  RunsByRow& by_row = found.by_row;
  by_row.runs = DeviceBuffer<std::uint32_t>(runs.count, scratch);
  by_row.begin = DeviceBuffer<std::uint32_t>(rows + 1, scratch);
  by_row.counts = DeviceBuffer<std::uint32_t>(rows, scratch);
  allow<WriterMemory>(write_runs<T>);
  write_runs<T><<<static_cast<unsigned>(tiling.tiles()), tile_threads, sizeof(WriterMemory),
                  algorithms.stream()>>>(
      tiling, sorted.links.data(),
      {.before = sorted.before.data(),
       .before_tile = sorted.runs_before.data(),
       .links_of_window = links > 0xffffffff ? runs.links_of_window.data() : nullptr,
       .begin = runs.begin.data(),
       .row = runs.row.data(),
       .local_of_link = runs.local_of_link.data(),
       .by_row = by_row.runs.data(),
       .begin_of_row = by_row.begin.data(),
       .values = values,
       .sorted_values = found.values.data()});
  PAGERANK_CUDA_LAUNCHED(write_runs);
  std::uint32_t *const begin = by_row.begin.data(), *const of_row = by_row.counts.data();
  std::uint32_t* const end_of_links = runs.begin.data() + runs.count;
  queue_for_each(
      rows,
      [=] __device__(std::uint64_t row) {
        of_row[row] = begin[row + 1] - begin[row];
        if (row == 0) *end_of_links = static_cast<std::uint32_t>(links);
      },
      algorithms.stream());
}

}  // namespace

std::size_t bytes_to_find_runs(std::uint64_t links, std::size_t value_bytes,
                               std::uint64_t windows) {
  return links * (sizeof(NodeId) + 2 * sizeof(std::uint16_t) + 2 * value_bytes) +
         Tiling::tiles_of(links) * windows * sizeof(LinksAndRuns);
}

template <class T>
LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                           const BlockedShape& shape, std::uint32_t windows,
                           const ScratchMemory& kept, DeviceAlgorithms& algorithms) {
  const EdgeIndex links = graph.link_count();
  RowLinks<T> ordered = order_links(graph, base, algorithms);
  require_memory(
      links * sizeof(SortedLink) + Tiling::tiles_of(links) * windows * sizeof(LinksAndRuns),
      algorithms.scratch());
  const DeviceBuffer<NodeId> tile_rows =
      find_tile_rows(ordered.offsets, base.linked(), links, algorithms);
  const Tiling tiling{
      .links = {base.linked(), links, ordered.offsets, ordered.columns, tile_rows.data()},
      .window_size = shape.window_size,
      .windows = windows,
      .window_factor = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / shape.window_size),
      .window_bits = std::max(1, bits_below(windows))};
  LinkRuns<T> found;
  const SortedTiles sorted = sort_in_tiles(tiling, found.runs, algorithms);
  const std::size_t value_bytes = graph.has_values() ? links * sizeof(T) : 0;
  require_memory({.scratch = links * 2 + value_bytes + graph.node_count() * 40,
                  .scratch_of_run = 20,  // begin, row, by row; place, slot, length
                  .kept = (links * 2 + value_bytes) * 5 / 4 + graph.node_count() * 4,
                  .kept_of_run = (2 + sizeof(T)) * 5 / 4,  // the id, the partial sum, padding
                  .segments_of_run = static_cast<double>(windows) / shape.capacity},
                 found.runs.count, algorithms.scratch(), kept);
  write_tiles(tiling, sorted, ordered.values, found, algorithms);
  return found;
}

template LinkRuns<float> find_link_runs(const DeviceGraph<float>&, const NodeOrder&,
                                        const BlockedShape&, std::uint32_t, const ScratchMemory&,
                                        DeviceAlgorithms&);
template LinkRuns<double> find_link_runs(const DeviceGraph<double>&, const NodeOrder&,
                                         const BlockedShape&, std::uint32_t, const ScratchMemory&,
                                         DeviceAlgorithms&);

}  // namespace pagerank::gpu
