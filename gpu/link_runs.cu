// Links sorted by window and cut into runs. A radix sort of all links would move each with its row,
// 8 bytes read and written, and runs would have to be found and sorted by row after that. Here a
// block sorts a tile of neighbouring links in shared memory and counts what it has in each window;
// sums of the counts tell where links and runs go, also by row, for a tile has rows one after the
// other. A run ends with its tile: what a long row has in a window may be some runs more.
#include "gpu/link_runs.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
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
  NodeId columns[links_of_tile];        ///< Before sorting.
  std::uint32_t by_row[links_of_tile];  ///< The tile's runs.
  TileBits row_begins, first_of_run;    ///< Before sorting. The latter: the first link of each run.
  TileBits run_begins;                  ///< After sorting.
  TilePieces pieces;                    ///< After sorting.
};
static_assert(sizeof(WriterMemory) <= 64 << 10);

/// All but the runs by row.
__device__ void read_tile(const RowLinksView& links, const SortedLink* sorted, unsigned size,
                          WriterMemory& memory) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
#pragma unroll
  for (unsigned k = 0; k < links_of_thread; ++k) {
    if (place(k) < size) memory.columns[place(k)] = links.columns[tile_begin() + place(k)];
  }
  clear_row_begins(memory.row_begins);
  for (unsigned w = threadIdx.x; w < words_of_tile; w += tile_threads) {
    memory.first_of_run.words[w] = 0;
  }
  __syncthreads();
  mark_row_begins(links.rows, memory.row_begins);
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
  const NonemptyRowsView& rows = tiling.links.rows;
  for_each_row(rows, [&](const NodeId* row, unsigned at) {
    runs.begin_of_row[*row] = before_tile + memory.first_of_run.rank(at);
  });
  const NodeId* const rows_of_tile = rows.rows + rows.first_in(blockIdx.x);
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
    runs.row[run] = rows_of_tile[memory.row_begins.rank_through(number) - 1];
    memory.by_row[memory.first_of_run.rank(number)] = run;
  }
  __syncthreads();
  const unsigned runs_of_tile = memory.first_of_run.rank(links_of_tile);
  for (unsigned i = threadIdx.x; i < runs_of_tile; i += tile_threads) {
    runs.by_row[before_tile + i] = memory.by_row[i];
  }
}

constexpr std::uint64_t tiles_of_sum = 128;

/// Adds up the counts of each window, of so many tiles a thread.
__global__ void add_up_windows(const LinksAndRuns* counts, std::uint64_t tiles,
                               std::uint32_t windows, std::uint64_t* links, std::uint64_t* runs) {
  const std::uint64_t index = global_thread_index();
  const std::uint64_t window = index % windows, first = index / windows * tiles_of_sum;
  unsigned long long link_sum = 0, run_sum = 0;
  for (std::uint64_t tile = first; tile < min(first + tiles_of_sum, tiles); ++tile) {
    const LinksAndRuns count = counts[tile * windows + window];
    link_sum += count.links;
    run_sum += count.runs;
  }
  if (link_sum == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(links + window), link_sum);
  atomicAdd(reinterpret_cast<unsigned long long*>(runs + window), run_sum);
}

/// The counts window by window, which tile by tile are written.
struct WindowByWindow {
  std::uint64_t tiles, windows;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    return i % tiles * windows + i / tiles;
  }
};

/// Of which `freed` will have been given back by then.
void require_memory(std::size_t bytes, const ScratchMemory& scratch, std::size_t freed = 0) {
  const std::size_t available = scratch.available() + freed;
  if (bytes > available) throw OutOfMemory("the GPU", bytes, available);
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

  [[nodiscard]] static std::size_t bytes(EdgeIndex links, std::uint64_t windows) {
    return links * sizeof(SortedLink) + Tiling::tiles_of(links) * windows * sizeof(LinksAndRuns);
  }
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
  DeviceBuffer<std::uint64_t> links_in(windows + 1, scratch), runs_in(windows + 1, scratch);
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
  const auto by_window = thrust::make_permutation_iterator(
      sorted.before.data(),
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0),
                                      WindowByWindow{count, windows}));
  algorithms.call([&](void* work, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(work, bytes, by_window, by_window, cuda::std::plus<>{},
                                          LinksAndRuns{}, count * windows, stream);
  });
  if (tiling.links.links > 0xffffffff &&
      algorithms.greatest(links_in.data(), windows) > 0xffffffff) {
    throw KernelRefused("kernel blocked: more than 2^32 - 1 links from neighbouring nodes");
  }
  runs.count = algorithms.fetch(runs.of_window.data() + windows);
  constexpr std::uint64_t most_runs = 0xffffff00;  // who looks at many at once counts in 32 bits
  if (runs.count > most_runs) {
    throw KernelRefused("kernel blocked: " + std::to_string(runs.count) +
                        " runs of links, at most 2^32 - 256 are possible");
  }
  return sorted;
}

/// All of `found` but what sort_in_tiles() has counted.
template <class T>
void write_tiles(const Tiling& tiling, std::uint64_t rows, const SortedTiles& sorted,
                 const RowLinks<T>& ordered, LinkRuns<T>& found, DeviceAlgorithms& algorithms) {
  const ScratchMemory& scratch = algorithms.scratch();
  const EdgeIndex links = tiling.links.links;
  Runs& runs = found.runs;
  runs.begin = DeviceBuffer<std::uint32_t>(runs.count + 1, scratch);
  runs.row = DeviceBuffer<NodeId>(runs.count, scratch);
  runs.local_of_link = DeviceBuffer<std::uint16_t>((links + 3) / 4 * 4, scratch);
  queue_for_each(
      runs.local_of_link.size() - links,
      [behind = runs.local_of_link.data() + links] __device__(std::uint64_t i) { behind[i] = 0; },
      algorithms.stream());
  found.values = DeviceBuffer<T>(ordered.values != nullptr ? links : 0, scratch);
  RunsByRow& by_row = found.by_row;
  by_row.runs = DeviceBuffer<std::uint32_t>(runs.count, scratch);
  by_row.begin = DeviceBuffer<std::uint32_t>(rows, scratch);
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
       .values = ordered.values,
       .sorted_values = found.values.data()});
  PAGERANK_CUDA_LAUNCHED(write_runs);
  by_row.counts.set_to_zero(algorithms.stream());
  const std::uint64_t nonempty = ordered.rows.count;
  const auto all_runs = static_cast<std::uint32_t>(runs.count);
  const NodeId* const row_at = ordered.rows.rows.data();
  std::uint32_t *const begin = by_row.begin.data(), *const of_row = by_row.counts.data();
  std::uint32_t* const begin_of_run = runs.begin.data();
  queue_for_each(
      nonempty,
      [=] __device__(std::uint64_t i) {
        const NodeId row = row_at[i];
        of_row[row] = (i + 1 < nonempty ? begin[row_at[i + 1]] : all_runs) - begin[row];
        if (i == 0) begin_of_run[all_runs] = static_cast<std::uint32_t>(links);
      },
      algorithms.stream());
}

/// For writing the runs; and for the rest of the preparation, when what they are written from, so
/// many bytes, is gone. Nearly, and what slices are padded with guessed.
template <class T>
void require_memory_for_runs(const DeviceGraph<T>& graph, std::uint64_t runs,
                             std::uint64_t segments, std::size_t written_from,
                             const ScratchMemory& scratch) {
  const std::size_t nodes = graph.node_count();
  const std::size_t links = graph.link_count() * (2 + (graph.has_values() ? sizeof(T) : 0));
  require_memory(links + runs * 12 + nodes * 8, scratch);  // begin, row, by row
  // Then place, slot and length, too; rows, their blocks, keys and positions.
  const std::size_t to_lay_out = links + runs * 17 + nodes * 40 + segments * 4;
  const std::size_t layout = links * 5 / 4 + runs * 5 / 2 + nodes * 4 + segments * sizeof(Segment);
  require_memory(to_lay_out + layout, scratch, written_from);
}

}  // namespace

std::size_t bytes_to_find_runs(std::uint64_t links, std::size_t value_bytes,
                               std::uint64_t windows) {
  return links * (sizeof(NodeId) + sizeof(std::uint16_t) + 2 * value_bytes) +
         SortedTiles::bytes(links, windows);
}

template <class T>
LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                           const BlockedShape& shape, std::uint32_t windows,
                           DeviceAlgorithms& algorithms) {
  const EdgeIndex links = graph.link_count();
  const RowLinks<T> ordered = order_links(graph, base, algorithms);
  const std::size_t of_tiles = SortedTiles::bytes(links, windows);
  require_memory(of_tiles, algorithms.scratch());
  const Tiling tiling{
      .links = {links, ordered.columns, ordered.rows.view()},
      .window_size = shape.window_size,
      .windows = windows,
      .window_factor = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / shape.window_size),
      .window_bits = std::max(1, bits_below(windows))};
  LinkRuns<T> found;
  const SortedTiles sorted = sort_in_tiles(tiling, found.runs, algorithms);
  const std::uint64_t row_blocks =
      std::max(found.runs.count / shape.capacity, base.linked() / shape.window_size) + 1;
  require_memory_for_runs(graph, found.runs.count, row_blocks * windows,
                          of_tiles + ordered.own_bytes(), algorithms.scratch());
  write_tiles(tiling, base.linked(), sorted, ordered, found, algorithms);
  return found;
}

template LinkRuns<float> find_link_runs(const DeviceGraph<float>&, const NodeOrder&,
                                        const BlockedShape&, std::uint32_t, DeviceAlgorithms&);
template LinkRuns<double> find_link_runs(const DeviceGraph<double>&, const NodeOrder&,
                                         const BlockedShape&, std::uint32_t, DeviceAlgorithms&);

}  // namespace pagerank::gpu
