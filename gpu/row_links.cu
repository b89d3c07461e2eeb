// Links with rows and columns in the base order.
#include "gpu/row_links.cuh"

#include "gpu/pagerank.hpp"
#include "gpu/warp_reduce.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned emit_block_size = 256;
constexpr unsigned emit_links_per_lane = 8;
constexpr unsigned emit_links_per_warp = emit_links_per_lane * warp_size;
constexpr unsigned emit_links_per_block = emit_links_per_lane * emit_block_size;

/// Of a warp's share of the links, for each that is the first of its row there, at its number in
/// the share: what the numbers of the row's links have to be moved by.
struct EmittedRows {
  EdgeIndex shift[emit_links_per_warp];
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
    rows.shift[at] = base_offsets[base.base(static_cast<NodeId>(row))] - from;
    atomicOr(&rows.first[at / warp_size], 1U << at % warp_size);
  }
  __syncwarp();
}

/// The columns (and values) of links [first, last), to their places with rows in the base order.
template <class T>
__global__ void emit_links(CsrView<T> matrix, EdgeIndex first, EdgeIndex last, NodeOrderView base,
                           const EdgeIndex* base_offsets, NodeId* ordered_columns, T* values) {
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
    ordered_columns[to] = columns[k];
    if (values != nullptr) values[to] = matrix.values[link];
  }
}

}  // namespace

template <class T>
RowLinks<T> order_links(const DeviceGraph<T>& graph, const NodeOrder& base,
                        DeviceAlgorithms& algorithms) {
  const ScratchMemory& scratch = algorithms.scratch();
  const EdgeIndex links = graph.link_count();
  const NodeOrderView order = base.view();
  RowLinks<T> ordered;
  if (order.is_identity()) {
    graph.as_links_arrive([](const CsrView<T>&, EdgeIndex, EdgeIndex) {});
    const CsrView<T> matrix = graph.in_links();
    ordered.offsets = matrix.row_offsets;
    ordered.columns = matrix.column_indices;
    ordered.values = matrix.values;
    return ordered;
  }
  const std::size_t bytes = links * (sizeof(NodeId) + (graph.has_values() ? sizeof(T) : 0)) +
                            graph.node_count() * 2 * sizeof(EdgeIndex);
  if (const std::size_t available = scratch.available(); bytes > available) {
    throw OutOfMemory("the GPU", bytes, available);
  }
  ordered.own_offsets = base.row_offsets(graph.row_offsets(), graph.node_count(), algorithms);
  ordered.own_columns = DeviceBuffer<NodeId>(links, scratch);
  ordered.own_values = DeviceBuffer<T>(graph.has_values() ? links : 0, scratch);
  ordered.offsets = ordered.own_offsets.data();
  ordered.columns = ordered.own_columns.data();
  ordered.values = ordered.own_values.data();
  graph.as_links_arrive([&](const CsrView<T>& matrix, EdgeIndex begin, EdgeIndex end) {
    emit_links<<<blocks_for(end - begin, emit_links_per_block), emit_block_size, 0,
                 algorithms.stream()>>>(matrix, begin, end, order, ordered.offsets,
                                        ordered.own_columns.data(), ordered.own_values.data());
    PAGERANK_CUDA_LAUNCHED(emit_links);
  });
  return ordered;
}

template RowLinks<float> order_links(const DeviceGraph<float>&, const NodeOrder&,
                                     DeviceAlgorithms&);
template RowLinks<double> order_links(const DeviceGraph<double>&, const NodeOrder&,
                                      DeviceAlgorithms&);

}  // namespace pagerank::gpu
