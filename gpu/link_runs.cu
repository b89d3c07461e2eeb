// Links sorted by window and cut into runs.
#include "gpu/link_runs.cuh"

#include <thrust/iterator/counting_iterator.h>

#include <string>

#include "gpu/pagerank.hpp"
#include "gpu/slices.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned emit_block_size = 256;
constexpr unsigned emit_links_per_warp = 256;
constexpr unsigned emit_links_per_block = emit_links_per_warp * emit_block_size / warp_size;

/// The keys (and values) of links [first, last), in their places with rows in the base order.
template <class T>
__global__ void emit_links(CsrView<T> matrix, EdgeIndex first, EdgeIndex last, NodeOrderView base,
                           const EdgeIndex* base_offsets, std::uint32_t window_size,
                           LinkKey link_key, std::uint64_t* keys, T* values) {
  const std::uint64_t warp = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const EdgeIndex begin = first + warp * emit_links_per_warp;
  if (begin >= last) return;  // the whole warp leaves together
  const EdgeIndex end = min(begin + emit_links_per_warp, last);
  // The rows of the warp's links: far fewer than all, so that the searches below are short.
  const std::uint64_t bound =
      upper_bound(matrix.row_offsets, matrix.rows + 1, lane == 0 ? begin : end - 1) - 1;
  const std::uint64_t first_row = __shfl_sync(full_warp, bound, 0);
  const std::uint64_t rows = __shfl_sync(full_warp, bound, 1) - first_row + 1;
  const EdgeIndex* const offsets = matrix.row_offsets + first_row;
  for (EdgeIndex link = begin + lane; link < end; link += warp_size) {
    const std::uint64_t row = upper_bound(offsets, rows, link) - 1;
    const NodeId place = base.base(static_cast<NodeId>(first_row + row));
    const EdgeIndex to = base.is_identity() ? link : base_offsets[place] + (link - offsets[row]);
    const NodeId column = base.base(matrix.column_indices[link]);
    keys[to] = link_key.make(column / window_size, place, column % window_size);
    if (values != nullptr) values[to] = matrix.values[link];
  }
}

/// Whether link i begins a run: another row or window than the link before, or far enough in a long
/// run. Pieces of long runs end at multiples of half a list's length, so that none is longer than a
/// list, and who looks at a link needs to know nothing of where its run began.
struct BeginsRun {
  const std::uint64_t* keys;
  LinkKey link_key;
  static constexpr std::uint64_t piece = longest_list / 2;
  __device__ bool operator()(std::uint64_t i) const {
    if (i == 0) return true;
    const std::uint64_t run = link_key.run(keys[i]);
    return run != link_key.run(keys[i - 1]) ||
           (i % piece == 0 && i >= piece && run == link_key.run(keys[i - piece]));
  }
};

void require_memory(std::size_t bytes, const ScratchMemory& scratch) {
  const std::size_t available = scratch.available();
  if (bytes > available) throw OutOfMemory("the GPU", bytes, available);
}

template <class T>
struct SortedLinks {
  LinkKey link_key;
  DeviceBuffer<std::uint64_t> keys, spare_keys;  ///< links + 1; see LinkRuns.
  DeviceBuffer<T> values;
};

/// By window: they are brought into the order of rows as they arrive, and the sort is stable.
template <class T>
SortedLinks<T> sort_links(const DeviceGraph<T>& graph, const NodeOrder& base,
                          const BlockedShape& shape, std::uint32_t windows,
                          DeviceAlgorithms& algorithms) {
  const EdgeIndex links = graph.link_count();
  const bool weighted = graph.has_values();
  const ScratchMemory& scratch = algorithms.scratch();
  require_memory(
      bytes_to_sort_links(links, weighted ? sizeof(T) : 0) + graph.node_count() * sizeof(EdgeIndex),
      scratch);
  const DeviceBuffer<EdgeIndex> base_offsets =
      base.row_offsets(graph.row_offsets(), graph.node_count(), algorithms);
  SortedLinks<T> sorted{
      .link_key = {shape.local_bits},
      .keys = DeviceBuffer<std::uint64_t>(links + 1, scratch),
      .spare_keys = DeviceBuffer<std::uint64_t>(links + 1, scratch),  // one more to mark an end
      .values = DeviceBuffer<T>(weighted ? links : 0, scratch)};
  DeviceBuffer<T> spare_values(weighted ? links : 0, scratch);
  graph.as_links_arrive([&](const CsrView<T>& matrix, EdgeIndex begin, EdgeIndex end) {
    emit_links<<<blocks_for(end - begin, emit_links_per_block), emit_block_size, 0,
                 algorithms.stream()>>>(matrix, begin, end, base.view(), base_offsets.data(),
                                        shape.window_size, sorted.link_key, sorted.keys.data(),
                                        sorted.values.data());
    PAGERANK_CUDA_LAUNCHED(emit_links);
  });
  if (windows == 1) return sorted;
  const int begin = static_cast<int>(sorted.link_key.window_shift());
  const int end = begin + bits_below(windows);
  cub::DoubleBuffer<std::uint64_t> keys(sorted.keys.data(), sorted.spare_keys.data());
  if (weighted) {
    cub::DoubleBuffer<T> values(sorted.values.data(), spare_values.data());
    algorithms.sort(keys, values, links, begin, end);
    if (values.Current() != sorted.values.data()) std::swap(sorted.values, spare_values);
  } else {
    algorithms.sort(keys, links, begin, end);
  }
  if (keys.Current() != sorted.keys.data()) std::swap(sorted.keys, sorted.spare_keys);
  return sorted;
}

/// runs.count and runs.begin; frees the spare keys.
template <class T>
void find_beginnings(SortedLinks<T>& sorted, const EdgeIndex links, DeviceAlgorithms& algorithms,
                     Runs& runs) {
  static_assert(std::is_same_v<EdgeIndex, std::uint64_t>);
  std::uint64_t* const found = sorted.spare_keys.data();  // has room for as many runs as links
  runs.count = algorithms.select(thrust::counting_iterator<std::uint64_t>(0), found, links,
                                 BeginsRun{sorted.keys.data(), sorted.link_key});
  if (runs.count >= 0xffffffff) {
    throw KernelRefused("kernel blocked: " + std::to_string(runs.count) +
                        " runs of links, at most 2^32 - 2 are possible");
  }
  PAGERANK_CUDA(cudaMemcpyAsync(found + runs.count, &links, sizeof(links), cudaMemcpyHostToDevice,
                                algorithms.stream()));
  if (runs.count > links / 4) {
    runs.begin = std::move(sorted.spare_keys);
  } else {
    runs.begin = DeviceBuffer<std::uint64_t>(runs.count + 1, algorithms.scratch());
    PAGERANK_CUDA(cudaMemcpyAsync(runs.begin.data(), found,
                                  (runs.count + 1) * sizeof(std::uint64_t),
                                  cudaMemcpyDeviceToDevice, algorithms.stream()));
  }
  sorted.spare_keys = {};
}

/// runs.row and runs.of_window.
void find_rows_and_windows(const std::uint64_t* keys, const LinkKey link_key, std::uint32_t windows,
                           const DeviceAlgorithms& algorithms, Runs& runs) {
  runs.row = DeviceBuffer<NodeId>(runs.count, algorithms.scratch());
  runs.of_window = DeviceBuffer<std::uint64_t>(windows + 1, algorithms.scratch());
  NodeId* const row_of_run = runs.row.data();
  std::uint64_t* const window_runs = runs.of_window.data();
  const std::uint64_t* const run_begin = runs.begin.data();
  const std::uint64_t count = runs.count;
  queue_for_each(
      count,
      [=] __device__(std::uint64_t run) {
        const std::uint64_t key = keys[run_begin[run]];
        const std::uint32_t row = link_key.row(key), window = link_key.window(key);
        row_of_run[run] = row;
        // Windows that begin here: this one's, and those without links before it.
        const std::uint32_t first = run == 0 ? 0 : link_key.window(keys[run_begin[run - 1]]) + 1;
        for (std::uint32_t w = first; w <= window; ++w) window_runs[w] = run;
        if (run + 1 == count) {
          for (std::uint32_t w = window + 1; w <= windows; ++w) window_runs[w] = count;
        }
      },
      algorithms.stream());
}

}  // namespace

template <class T>
LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                           const BlockedShape& shape, std::uint32_t windows,
                           DeviceAlgorithms& algorithms) {
  const EdgeIndex links = graph.link_count();
  SortedLinks<T> sorted = sort_links(graph, base, shape, windows, algorithms);
  Runs runs;
  find_beginnings(sorted, links, algorithms, runs);
  // What follows takes at most so much.
  require_memory(runs.count * 40 + graph.node_count() * 40 + links * 3 +
                     (graph.has_values() ? links * sizeof(T) * 5 / 4 : 0),
                 algorithms.scratch());
  find_rows_and_windows(sorted.keys.data(), sorted.link_key, windows, algorithms, runs);
  return {sorted.link_key, std::move(sorted.keys), std::move(sorted.values), std::move(runs)};
}

template LinkRuns<float> find_link_runs(const DeviceGraph<float>&, const NodeOrder&,
                                        const BlockedShape&, std::uint32_t, DeviceAlgorithms&);
template LinkRuns<double> find_link_runs(const DeviceGraph<double>&, const NodeOrder&,
                                         const BlockedShape&, std::uint32_t, DeviceAlgorithms&);

}  // namespace pagerank::gpu
