// Links sorted by window and cut into runs.
#include "gpu/link_runs.cuh"

#include <algorithm>
#include <string>

#include "gpu/blocked_layout.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/slices.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned emit_block_size = 256;
constexpr unsigned emit_links_per_lane = 8;
constexpr unsigned emit_links_per_warp = emit_links_per_lane * warp_size;
constexpr unsigned emit_links_per_block = emit_links_per_lane * emit_block_size;

/// Of a warp's share of the links, for each that is the first of its row there, at its number in
/// the share: where the row stands in the base order, and what a link's number has to be moved by.
struct EmittedRows {
  EdgeIndex shift[emit_links_per_warp];
  NodeId place[emit_links_per_warp];
  unsigned first[emit_links_per_lane];  ///< A bit a link.
};

/// Notes the rows of links [begin, end). For a whole warp.
template <class T>
__device__ void note_rows(const CsrView<T>& matrix, EdgeIndex begin, EdgeIndex end,
                          const NodeOrderView& base, const EdgeIndex* base_offsets,
                          EmittedRows& rows) {
  const unsigned lane = threadIdx.x % warp_size;
  if (lane < emit_links_per_lane) rows.first[lane] = 0;
  __syncwarp();
  const std::uint64_t bound =
      upper_bound(matrix.row_offsets, matrix.rows + 1, lane == 0 ? begin : end - 1) - 1;
  const std::uint64_t last = __shfl_sync(full_warp, bound, 1);
  for (std::uint64_t row = __shfl_sync(full_warp, bound, 0) + lane; row <= last; row += warp_size) {
    const EdgeIndex from = matrix.row_offsets[row];
    if (from == matrix.row_offsets[row + 1]) continue;
    const auto at = static_cast<unsigned>(max(from, begin) - begin);
    const NodeId place = base.base(static_cast<NodeId>(row));
    rows.place[at] = place;
    rows.shift[at] = base.is_identity() ? 0 : base_offsets[place] - from;
    atomicOr(&rows.first[at / warp_size], 1U << at % warp_size);
  }
  __syncwarp();
}

/// The keys (and values) of links [first, last), in their places with rows in the base order.
template <class T>
__global__ void emit_links(CsrView<T> matrix, EdgeIndex first, EdgeIndex last, NodeOrderView base,
                           const EdgeIndex* base_offsets, std::uint32_t window_size,
                           LinkKey link_key, std::uint64_t* keys, T* values) {
  __shared__ EmittedRows rows_of_warp[emit_block_size / warp_size];
  const EdgeIndex begin = first + global_thread_index() / warp_size * emit_links_per_warp;
  if (begin >= last) return;  // the whole warp leaves together
  const EdgeIndex end = min(begin + emit_links_per_warp, last);
  const unsigned lane = threadIdx.x % warp_size;
  NodeId columns[emit_links_per_lane];  // all on their way before the first is stored
#pragma unroll
  for (unsigned k = 0; k < emit_links_per_lane; ++k) {
    const EdgeIndex link = begin + k * warp_size + lane;
    columns[k] = link < end ? matrix.column_indices[link] : 0;
  }
#pragma unroll
  for (NodeId& column : columns) column = base.base(column);
  EmittedRows& rows = rows_of_warp[threadIdx.x / warp_size];
  note_rows(matrix, begin, end, base, base_offsets, rows);
  unsigned row_at = 0;  // of the last one that has begun
#pragma unroll
  for (unsigned k = 0; k < emit_links_per_lane; ++k) {
    const EdgeIndex link = begin + k * warp_size + lane;
    const unsigned first_here = rows.first[k], first_through_lane = first_here & ((2U << lane) - 1);
    const auto last_of = [&](unsigned bits) {
      return bits != 0 ? k * warp_size + 31 - static_cast<unsigned>(__clz(static_cast<int>(bits)))
                       : row_at;
    };
    const unsigned at = last_of(first_through_lane);
    row_at = last_of(first_here);
    if (link >= end) break;
    const EdgeIndex to = link + rows.shift[at];
    keys[to] = link_key.make(columns[k] / window_size, rows.place[at], columns[k] % window_size);
    if (values != nullptr) values[to] = matrix.values[link];
  }
}

/// Arrays of Runs.
struct RunsView {
  std::uint32_t* begin;
  NodeId* row;
  std::uint64_t *of_window, *links_of_window;
  std::uint16_t* local_of_link;
};

constexpr unsigned runs_block_size = 256;
constexpr unsigned search_links_per_warp = 1024;
constexpr unsigned search_links_per_block = search_links_per_warp * runs_block_size / warp_size;

/// Calls found(bits, link, key) for each 32 links of a warp's share: bit l is set where the link of
/// lane l begins a run, its own number and key are a lane's own. A run begins with another row or
/// window than the link's before, or far enough in a long run: pieces of long runs end at multiples
/// of half a list's length, so that none is longer than a list, and who looks at a link needs to
/// know nothing of where its run began. For a whole warp.
template <class Found>
__device__ void find_beginnings(const std::uint64_t* keys, std::uint64_t links, LinkKey link_key,
                                Found found) {
  constexpr std::uint64_t piece = longest_list / 2;
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t first = global_thread_index() / warp_size * search_links_per_warp;
  const std::uint64_t end = min(first + search_links_per_warp, links);
#pragma unroll 4
  for (std::uint64_t at = first; at < end; at += warp_size) {
    const std::uint64_t i = at + lane;
    const bool there = i < end;
    const std::uint64_t key = there ? __ldg(keys + i) : 0;
    const std::uint64_t run = link_key.run(key);
    const bool begins =
        there && (i == 0 || run != link_key.run(__ldg(keys + i - 1)) ||
                  (i % piece == 0 && i >= piece && run == link_key.run(__ldg(keys + i - piece))));
    found(__ballot_sync(full_warp, begins), i, key);
  }
}

/// of_share[w] = the runs that begin in the share of warp w.
__global__ void count_runs(const std::uint64_t* keys, std::uint64_t links, LinkKey link_key,
                           std::uint64_t* of_share) {
  std::uint64_t count = 0;
  find_beginnings(keys, links, link_key, [&](unsigned bits, std::uint64_t, std::uint64_t) {
    count += static_cast<unsigned>(__popc(bits));
  });
  const std::uint64_t warp = global_thread_index() / warp_size;
  if (threadIdx.x % warp_size == 0) of_share[warp] = count;
}

/// All of the runs; before[w] = those that begin before warp w's share.
__global__ void write_runs(const std::uint64_t* keys, std::uint64_t links, LinkKey link_key,
                           const std::uint64_t* before, RunsView runs) {
  const unsigned lane = threadIdx.x % warp_size;
  std::uint64_t next = before[global_thread_index() / warp_size];
  find_beginnings(keys, links, link_key, [&](unsigned bits, std::uint64_t i, std::uint64_t key) {
    if (i < links) runs.local_of_link[i] = static_cast<std::uint16_t>(link_key.local(key));
    if ((bits >> lane & 1) != 0) {
      const std::uint64_t run = next + static_cast<unsigned>(__popc(bits & ((1U << lane) - 1)));
      runs.begin[run] = static_cast<std::uint32_t>(i);
      runs.row[run] = link_key.row(key);
      // Windows that begin here: this one's, and those without links before it.
      const std::uint32_t window = link_key.window(key);
      for (std::uint32_t w = i == 0 ? 0 : link_key.window(keys[i - 1]) + 1; w <= window; ++w) {
        runs.of_window[w] = run;
        runs.links_of_window[w] = i;
      }
    }
    next += static_cast<unsigned>(__popc(bits));
  });
}

void require_memory(std::size_t bytes, const ScratchMemory& scratch) {
  const std::size_t available = scratch.available();
  if (bytes > available) throw OutOfMemory("the GPU", bytes, available);
}

template <class T>
struct SortedLinks {
  LinkKey link_key;
  DeviceBuffer<std::uint64_t> keys, spare_keys;
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
  require_memory(bytes_to_sort_links(links, weighted ? sizeof(T) : 0) +
                     graph.node_count() * 2 * sizeof(EdgeIndex),
                 scratch);
  const DeviceBuffer<EdgeIndex> base_offsets =
      base.row_offsets(graph.row_offsets(), graph.node_count(), algorithms);
  SortedLinks<T> sorted{.link_key = {shape.local_bits},
                        .keys = DeviceBuffer<std::uint64_t>(links, scratch),
                        .spare_keys = DeviceBuffer<std::uint64_t>(links, scratch),
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

/// Bytes that follow on the links' sort at most, besides and for each run: in scratch memory, and
/// where the layout keeps what it is.
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

/// All of runs.
void find_runs(const std::uint64_t* keys, const EdgeIndex links, const LinkKey link_key,
               std::uint32_t windows, const BytesOfRuns& bytes, const ScratchMemory& kept,
               DeviceAlgorithms& algorithms, Runs& runs) {
  cudaStream_t stream = algorithms.stream();
  const unsigned blocks = blocks_for(links, search_links_per_block);
  const std::uint64_t shares = std::uint64_t{blocks} * (runs_block_size / warp_size);
  DeviceBuffer<std::uint64_t> of_share(shares + 1, algorithms.scratch());
  of_share.set_to_zero(stream);
  count_runs<<<blocks, runs_block_size, 0, stream>>>(keys, links, link_key, of_share.data());
  PAGERANK_CUDA_LAUNCHED(count_runs);
  algorithms.exclusive_sum(of_share.data(), of_share.data(), shares + 1);
  runs.count = algorithms.fetch(of_share.data() + shares);
  if (runs.count >= 0xffffffff) {
    throw KernelRefused("kernel blocked: " + std::to_string(runs.count) +
                        " runs of links, at most 2^32 - 2 are possible");
  }
  require_memory(bytes, runs.count, algorithms.scratch(), kept);
  runs.begin = DeviceBuffer<std::uint32_t>(runs.count + 1, algorithms.scratch());
  runs.row = DeviceBuffer<NodeId>(runs.count, algorithms.scratch());
  runs.local_of_link = DeviceBuffer<std::uint16_t>(links, algorithms.scratch());
  runs.of_window = DeviceBuffer<std::uint64_t>(windows + 1, algorithms.scratch());
  runs.links_of_window = DeviceBuffer<std::uint64_t>(windows + 1, algorithms.scratch());
  const RunsView view{runs.begin.data(), runs.row.data(), runs.of_window.data(),
                      runs.links_of_window.data(), runs.local_of_link.data()};
  const std::uint64_t count = runs.count;
  queue_for_each(
      windows + 1,
      [=] __device__(std::uint64_t w) {  // as of windows behind all links
        view.of_window[w] = count;
        view.links_of_window[w] = links;
        if (w == windows) view.begin[count] = static_cast<std::uint32_t>(links);
      },
      stream);
  write_runs<<<blocks, runs_block_size, 0, stream>>>(keys, links, link_key, of_share.data(), view);
  PAGERANK_CUDA_LAUNCHED(write_runs);
  const std::vector<std::uint64_t> window_links =
      algorithms.fetch(runs.links_of_window.data(), windows + 1);
  for (std::uint32_t w = 0; w < windows; ++w) {
    if (window_links[w + 1] - window_links[w] > 0xffffffff) {
      throw KernelRefused("kernel blocked: more than 2^32 - 1 links from neighbouring nodes");
    }
  }
}

}  // namespace

template <class T>
LinkRuns<T> find_link_runs(const DeviceGraph<T>& graph, const NodeOrder& base,
                           const BlockedShape& shape, std::uint32_t windows,
                           const ScratchMemory& kept, DeviceAlgorithms& algorithms) {
  const EdgeIndex links = graph.link_count();
  SortedLinks<T> sorted = sort_links(graph, base, shape, windows, algorithms);
  sorted.spare_keys = {};
  const std::size_t value_bytes = graph.has_values() ? links * sizeof(T) : 0;
  const BytesOfRuns bytes{
      .scratch = links * 2 + graph.node_count() * 40,
      .scratch_of_run =
          32,  // begin; row and number twice while they are grouped; place, slot, length
      .kept = (links * 2 + value_bytes) * 5 / 4 + graph.node_count() * 4,
      .kept_of_run = (2 + sizeof(T)) * 5 / 4,  // the id, the partial sum, and what pads them
      .segments_of_run = static_cast<double>(windows) / shape.capacity};
  LinkRuns<T> found;
  find_runs(sorted.keys.data(), links, sorted.link_key, windows, bytes, kept, algorithms,
            found.runs);
  found.values = std::move(sorted.values);
  return found;
}

template LinkRuns<float> find_link_runs(const DeviceGraph<float>&, const NodeOrder&,
                                        const BlockedShape&, std::uint32_t, const ScratchMemory&,
                                        DeviceAlgorithms&);
template LinkRuns<double> find_link_runs(const DeviceGraph<double>&, const NodeOrder&,
                                         const BlockedShape&, std::uint32_t, const ScratchMemory&,
                                         DeviceAlgorithms&);

}  // namespace pagerank::gpu
