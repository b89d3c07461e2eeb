#include "gpu/node_order.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;
constexpr unsigned most_windows = 1 << 17;
constexpr unsigned sampled_rows = 2048;
/// Rows longer than that have runs of full length in any order.
constexpr unsigned longest_sampled = 1 << 14;

/// How many windows the links of sampled rows fall into, one row a block, chosen by a link so that
/// each link counts alike: runs[b] = {as numbered, by place_of}, in runs per link.
template <class T>
__global__ void sample_rows(CsrView<T> matrix, const NodeId* place_of, std::uint32_t window_size,
                            float2* runs) {
  __shared__ std::uint32_t seen[2][most_windows / 32];
  __shared__ unsigned found[2];
  const EdgeIndex link = matrix.links / gridDim.x * blockIdx.x;
  const std::uint64_t row = upper_bound(matrix.row_offsets, matrix.rows + 1, link) - 1;
  const EdgeIndex begin = matrix.row_offsets[row], end = matrix.row_offsets[row + 1];
  if (end - begin > longest_sampled) {
    if (threadIdx.x == 0) runs[blockIdx.x] = {0, 0};
    return;
  }
  const auto words = static_cast<unsigned>((matrix.rows - 1) / window_size / 32 + 1);
  for (unsigned w = threadIdx.x; w < words; w += block_size) seen[0][w] = seen[1][w] = 0;
  if (threadIdx.x < 2) found[threadIdx.x] = 0;
  __syncthreads();
  for (EdgeIndex k = begin + threadIdx.x; k < end; k += block_size) {
    const NodeId column = matrix.column_indices[k];
    const std::uint32_t windows[2] = {column / window_size, place_of[column] / window_size};
    for (unsigned order = 0; order < 2; ++order) {
      const std::uint32_t bit = 1U << (windows[order] % 32);
      if ((atomicOr(&seen[order][windows[order] / 32], bit) & bit) == 0) {
        atomicAdd(&found[order], 1);
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto length = static_cast<float>(end - begin);
    runs[blockIdx.x] = {static_cast<float>(found[0]) / length,
                        static_cast<float>(found[1]) / length};
  }
}

/// The order by ascending keys, stable, and back.
void order_by_keys(DeviceBuffer<std::uint32_t>& keys, DeviceAlgorithms& algorithms,
                   DeviceBuffer<NodeId>& node_order, DeviceBuffer<NodeId>& places) {
  const std::uint64_t nodes = keys.size();
  cudaStream_t stream = algorithms.stream();
  DeviceBuffer<std::uint32_t> spare_keys(nodes, algorithms.scratch());
  DeviceBuffer<NodeId> numbers(nodes, algorithms.scratch()),
      spare_numbers(nodes, algorithms.scratch());
  NodeId* const number = numbers.data();
  queue_for_each(
      nodes, [=] __device__(std::uint64_t node) { number[node] = static_cast<NodeId>(node); },
      stream);
  cub::DoubleBuffer<std::uint32_t> sorted(keys.data(), spare_keys.data());
  cub::DoubleBuffer<NodeId> values(numbers.data(), spare_numbers.data());
  algorithms.sort(sorted, values, nodes, 0, 32);
  node_order = std::move(values.Current() == numbers.data() ? numbers : spare_numbers);
  places = DeviceBuffer<NodeId>(nodes, algorithms.scratch());
  const NodeId* const node_at = node_order.data();
  NodeId* const place_of = places.data();
  queue_for_each(
      nodes,
      [=] __device__(std::uint64_t place) {
        place_of[node_at[place]] = static_cast<NodeId>(place);
      },
      stream);
}

/// As numbered, but rows of more than three times the mean length last, the longest at the end: a
/// few of them among many short ones would make all lists of their slices long. Nothing if there
/// are none.
template <class T>
void move_long_rows_last(const CsrView<T>& matrix, DeviceAlgorithms& algorithms,
                         DeviceBuffer<NodeId>& node_order, DeviceBuffer<NodeId>& places) {
  const std::uint64_t longest_short = 3 * (matrix.links / matrix.rows + 1);
  const EdgeIndex* const offsets = matrix.row_offsets;
  const auto length = [=] __device__(std::uint64_t row) { return offsets[row + 1] - offsets[row]; };
  DeviceBuffer<std::uint32_t> keys(matrix.rows, algorithms.scratch());
  DeviceBuffer<std::uint32_t> any(1, algorithms.scratch());
  any.set_to_zero(algorithms.stream());
  std::uint32_t *const key = keys.data(), *const found = any.data();
  queue_for_each(
      matrix.rows,
      [=] __device__(std::uint64_t row) {
        const std::uint64_t links = length(row);
        key[row] = links > longest_short
                       ? static_cast<std::uint32_t>(min(links, std::uint64_t{0xffffffff}))
                       : 0;
        if (links > longest_short) *found = 1;
      },
      algorithms.stream());
  if (algorithms.fetch(found) == 0) return;
  order_by_keys(keys, algorithms, node_order, places);
}

/// node_at and place_of by falling out-degree, ties by number.
template <class T>
void order_by_degree(const DeviceGraph<T>& graph, DeviceAlgorithms& algorithms,
                     DeviceBuffer<NodeId>& node_order, DeviceBuffer<NodeId>& places) {
  const CsrView<T> matrix = graph.in_links();
  const std::uint64_t nodes = matrix.rows;
  cudaStream_t stream = algorithms.stream();
  DeviceBuffer<std::uint32_t> degrees(nodes, algorithms.scratch());
  std::uint32_t* const degree = degrees.data();
  if (matrix.values == nullptr) {
    const double* const inverse = graph.inverse_out_weight();
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t node) {
          const double links = inverse[node] > 0 ? rint(1 / inverse[node]) : 0;
          degree[node] = ~static_cast<std::uint32_t>(min(links, 4294967295.0));
        },
        stream);
  } else {
    PAGERANK_CUDA(cudaMemsetAsync(degree, 0xff, nodes * sizeof(std::uint32_t), stream));
    const NodeId* const columns = matrix.column_indices;
    queue_for_each(
        matrix.links, [=] __device__(std::uint64_t link) { atomicSub(degree + columns[link], 1); },
        stream);
  }
  // Complements ascending are degrees descending.
  order_by_keys(degrees, algorithms, node_order, places);
}

}  // namespace

template <class T>
NodeOrder::NodeOrder(const DeviceGraph<T>& graph, std::uint32_t window_size,
                     DeviceAlgorithms& algorithms) {
  const CsrView<T> matrix = graph.in_links();
  if (matrix.rows <= window_size || matrix.links == 0) return;
  order_by_degree(graph, algorithms, node_at_, place_of_);
  DeviceBuffer<float2> runs(sampled_rows, algorithms.scratch());
  sample_rows<<<sampled_rows, block_size, 0, algorithms.stream()>>>(matrix, place_of_.data(),
                                                                    window_size, runs.data());
  PAGERANK_CUDA_LAUNCHED(sample_rows);
  double as_numbered = 0, by_degree = 0;
  for (const float2& sample : algorithms.fetch(runs.data(), sampled_rows)) {
    as_numbered += sample.x;
    by_degree += sample.y;
  }
  // Renumbering costs a gather a link once, and may scatter what else is near.
  if (by_degree < 0.8 * as_numbered) return;
  node_at_ = {};
  place_of_ = {};
  move_long_rows_last(matrix, algorithms, node_at_, place_of_);
}

template <class T>
DeviceBuffer<EdgeIndex> NodeOrder::row_offsets(const CsrView<T>& matrix,
                                               DeviceAlgorithms& algorithms) const {
  if (node_at_.size() == 0) return {};
  DeviceBuffer<EdgeIndex> lengths(matrix.rows + 1, algorithms.scratch()),
      offsets(matrix.rows + 1, algorithms.scratch());
  EdgeIndex* const length = lengths.data();
  const NodeOrderView order = view();
  queue_for_each(
      matrix.rows + 1,
      [=] __device__(std::uint64_t place) {
        if (place == matrix.rows) {
          length[place] = 0;
          return;
        }
        const NodeId node = order.node(place);
        length[place] = matrix.row_offsets[node + 1] - matrix.row_offsets[node];
      },
      algorithms.stream());
  algorithms.exclusive_sum(lengths.data(), offsets.data(), matrix.rows + 1);
  PAGERANK_CUDA(cudaStreamSynchronize(algorithms.stream()));
  return offsets;
}

template NodeOrder::NodeOrder(const DeviceGraph<float>&, std::uint32_t, DeviceAlgorithms&);
template NodeOrder::NodeOrder(const DeviceGraph<double>&, std::uint32_t, DeviceAlgorithms&);
template DeviceBuffer<EdgeIndex> NodeOrder::row_offsets(const CsrView<float>&,
                                                        DeviceAlgorithms&) const;
template DeviceBuffer<EdgeIndex> NodeOrder::row_offsets(const CsrView<double>&,
                                                        DeviceAlgorithms&) const;

}  // namespace pagerank::gpu
