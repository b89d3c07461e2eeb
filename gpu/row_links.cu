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

/// Of a warp's share of the links, a tile of them, for each that is the first of its row there, at
/// its number in the share: what the numbers of the row's links have to be moved by.
struct EmittedRows {
  EdgeIndex shift[emit_links_per_warp];
  unsigned first[emit_links_per_lane];  ///< A bit a link.
};

/// Notes the rows of a share. For a whole warp.
__device__ void note_rows(const EdgeIndex* offsets, const NonemptyRowsView& nonempty,
                          std::uint64_t share, const NodeOrderView& base,
                          const EdgeIndex* base_offsets, EmittedRows& rows) {
  const unsigned lane = threadIdx.x % warp_size;
  if (lane < emit_links_per_lane) rows.first[lane] = 0;
  __syncwarp();
  const std::uint64_t begins = nonempty.first_of_tile[share];
  const std::uint64_t end = nonempty.first_of_tile[share + 1];
  for (std::uint64_t i = nonempty.first_in(share) + lane; i < end; i += warp_size) {
    const NodeId row = nonempty.rows[i];
    const unsigned at = i < begins ? 0 : nonempty.begins[i];
    rows.shift[at] = base_offsets[base.base(row)] - offsets[row];
    atomicOr(&rows.first[at / warp_size], 1U << at % warp_size);
  }
  __syncwarp();
}

/// The columns (and values) of links [first, last), to their places with rows in the base order.
template <class T>
__global__ void emit_links(CsrView<T> matrix, NonemptyRowsView nonempty, EdgeIndex first,
                           EdgeIndex last, NodeOrderView base, const EdgeIndex* base_offsets,
                           NodeId* ordered_columns, T* values) {
  __shared__ EmittedRows rows_of_warp[emit_block_size / warp_size];
  const std::uint64_t share =
      first / emit_links_per_warp + global_thread_index() / warp_size;  // of all links
  const EdgeIndex begin = share * emit_links_per_warp;
  if (begin >= last) return;  // the whole warp leaves together
  const EdgeIndex end = min(begin + emit_links_per_warp, last);
  const unsigned lane = threadIdx.x % warp_size;
  NodeId columns[emit_links_per_lane];  // all on their way before the first is stored
#pragma unroll
  for (unsigned k = 0; k < emit_links_per_lane; ++k) {
    const EdgeIndex link = begin + k * warp_size + lane;
    columns[k] = link >= first && link < end ? matrix.column_indices[link] : 0;
  }
#pragma unroll
  for (NodeId& column : columns) column = base.base(column);
  EmittedRows& rows = rows_of_warp[threadIdx.x / warp_size];
  note_rows(matrix.row_offsets, nonempty, share, base, base_offsets, rows);
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
    if (link < first) continue;
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
    ordered.rows =
        find_nonempty_rows<links_of_tile>(graph.row_offsets(), base.linked(), links, algorithms);
    graph.as_links_arrive([](const CsrView<T>&, EdgeIndex, EdgeIndex) {});
    const CsrView<T> matrix = graph.in_links();
    ordered.columns = matrix.column_indices;
    ordered.values = matrix.values;
    return ordered;
  }
  const std::size_t bytes = links * (sizeof(NodeId) + (graph.has_values() ? sizeof(T) : 0)) +
                            graph.node_count() * std::size_t{20};  // offsets, rows with links
  if (const std::size_t available = scratch.available(); bytes > available) {
    throw OutOfMemory("the GPU", bytes, available);
  }
  const DeviceBuffer<EdgeIndex> own_offsets =
      base.row_offsets(graph.row_offsets(), graph.node_count(), algorithms);
  const EdgeIndex* const offsets = own_offsets.data();
  ordered.rows = find_nonempty_rows<links_of_tile>(offsets, base.linked(), links, algorithms);
  const NonemptyRows nonempty = find_nonempty_rows<emit_links_per_warp>(
      graph.row_offsets(), graph.node_count(), links, algorithms);
  ordered.own_columns = DeviceBuffer<NodeId>(links, scratch);
  ordered.own_values = DeviceBuffer<T>(graph.has_values() ? links : 0, scratch);
  ordered.columns = ordered.own_columns.data();
  ordered.values = ordered.own_values.data();
  graph.as_links_arrive([&](const CsrView<T>& matrix, EdgeIndex begin, EdgeIndex end) {
    const EdgeIndex from_whole_share = end - begin / emit_links_per_warp * emit_links_per_warp;
    emit_links<<<blocks_for(from_whole_share, emit_links_per_block), emit_block_size, 0,
                 algorithms.stream()>>>(matrix, nonempty.view(), begin, end, order, offsets,
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
