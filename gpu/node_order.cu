#include "gpu/node_order.cuh"

#include <optional>

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

/// The keys that nodes are ordered by end with these; all others have out-links.
constexpr std::uint32_t isolated_key = 0xffffffff, sink_key = isolated_key - 1;

/// Nodes by ascending keys, stable, and back.
struct KeyOrder {
  DeviceBuffer<NodeId> node_at, place_of;
  std::uint64_t below_sinks = 0, below_isolated = 0;  ///< Nodes with keys below these.
};

KeyOrder order_by_keys(DeviceBuffer<std::uint32_t>& keys, DeviceAlgorithms& algorithms) {
  const std::uint64_t nodes = keys.size();
  const ScratchMemory& scratch = algorithms.scratch();
  DeviceBuffer<std::uint32_t> spare_keys(nodes, scratch);
  DeviceBuffer<NodeId> numbers(nodes, scratch), spare_numbers(nodes, scratch);
  NodeId* const number = numbers.data();
  queue_for_each(
      nodes, [=] __device__(std::uint64_t node) { number[node] = static_cast<NodeId>(node); },
      algorithms.stream());
  cub::DoubleBuffer<std::uint32_t> sorted(keys.data(), spare_keys.data());
  cub::DoubleBuffer<NodeId> values(numbers.data(), spare_numbers.data());
  algorithms.sort(sorted, values, nodes, 0, 32);
  KeyOrder order;
  order.node_at = std::move(values.Current() == numbers.data() ? numbers : spare_numbers);
  order.place_of = DeviceBuffer<NodeId>(nodes, scratch);
  DeviceBuffer<std::uint64_t> bounds(2, scratch);
  std::uint64_t* const bound = bounds.data();
  const std::uint32_t* const key = sorted.Current();
  const NodeId* const node_at = order.node_at.data();
  NodeId* const place_of = order.place_of.data();
  queue_for_each(
      nodes,
      [=] __device__(std::uint64_t place) {
        place_of[node_at[place]] = static_cast<NodeId>(place);
        if (place < 2) bound[place] = lower_bound(key, nodes, place == 0 ? sink_key : isolated_key);
      },
      algorithms.stream());
  const std::vector<std::uint64_t> fetched = algorithms.fetch(bound, 2);
  order.below_sinks = fetched[0];
  order.below_isolated = fetched[1];
  return order;
}

/// The out-links of each node, as many as 32 bits tell. (Where there are no values, weights are
/// numbers of links.)
template <class T>
DeviceBuffer<std::uint32_t> out_degrees(const DeviceGraph<T>& graph,
                                        const DeviceAlgorithms& algorithms) {
  DeviceBuffer<std::uint32_t> degrees(graph.node_count(), algorithms.scratch());
  std::uint32_t* const degree = degrees.data();
  if (!graph.has_values()) {
    const double* const inverse = graph.inverse_out_weight();
    queue_for_each(
        degrees.size(),
        [=] __device__(std::uint64_t node) {
          const double links = inverse[node] > 0 ? rint(1 / inverse[node]) : 0;
          degree[node] = static_cast<std::uint32_t>(min(links, 4294967295.0));
        },
        algorithms.stream());
  } else {
    degrees.set_to_zero(algorithms.stream());
    const CsrView<T> matrix = graph.in_links();
    const NodeId* const columns = matrix.column_indices;
    queue_for_each(
        matrix.links, [=] __device__(std::uint64_t link) { atomicAdd(degree + columns[link], 1); },
        algorithms.stream());
  }
  return degrees;
}

/// By falling out-degree, ties by number; nodes without out-links that are linked to come before
/// those without any links.
template <class T>
KeyOrder order_by_degree(const DeviceGraph<T>& graph, DeviceAlgorithms& algorithms) {
  DeviceBuffer<std::uint32_t> keys = out_degrees(graph, algorithms);
  std::uint32_t* const key = keys.data();
  const EdgeIndex* const offsets = graph.row_offsets();
  queue_for_each(
      keys.size(),
      [=] __device__(std::uint64_t node) {
        const std::uint32_t links = key[node];
        if (links > 0) {
          key[node] = sink_key - min(links, sink_key);
        } else {
          key[node] = offsets[node] < offsets[node + 1] ? sink_key : isolated_key;
        }
      },
      algorithms.stream());
  return order_by_keys(keys, algorithms);
}

struct Found {
  std::uint32_t isolated, any_long;
};

/// As numbered, but for rows of more than three times the mean length, which come last, the longest
/// at the end, and nodes without any links behind them: a few long rows among many short ones would
/// make all lists of their slices long. Nothing where there are no long rows and hardly a node
/// without links.
template <class T>
std::optional<KeyOrder> order_by_number(const DeviceGraph<T>& graph, DeviceAlgorithms& algorithms) {
  const std::uint64_t nodes = graph.node_count();
  const std::uint64_t longest_short = 3 * (graph.link_count() / nodes + 1);
  const EdgeIndex* const offsets = graph.row_offsets();
  DeviceBuffer<std::uint32_t> keys = out_degrees(graph, algorithms);
  DeviceBuffer<Found> counter(1, algorithms.scratch());
  counter.set_to_zero(algorithms.stream());
  std::uint32_t* const key = keys.data();
  Found* const found = counter.data();
  queue_for_each(
      keys.size(),
      [=] __device__(std::uint64_t row) {
        const std::uint64_t links = offsets[row + 1] - offsets[row];
        if (links == 0 && key[row] == 0) {
          key[row] = isolated_key;
          atomicAdd(&found->isolated, 1);
        } else if (links > longest_short) {
          key[row] = static_cast<std::uint32_t>(min(links, std::uint64_t{sink_key}));
          found->any_long = 1;
        } else {
          key[row] = 0;
        }
      },
      algorithms.stream());
  const auto [isolated, any_long] = algorithms.fetch(found);
  if (any_long == 0 && isolated < nodes / 16) return {};
  return order_by_keys(keys, algorithms);
}

}  // namespace

template <class T>
NodeOrder::NodeOrder(const DeviceGraph<T>& graph, std::uint32_t window_size,
                     DeviceAlgorithms& algorithms)
    : sources_(graph.node_count()), linked_(graph.node_count()) {
  if (graph.node_count() <= window_size || graph.link_count() == 0) return;
  std::optional<KeyOrder> chosen = order_by_degree(graph, algorithms);
  const CsrView<T> matrix = graph.in_links();
  DeviceBuffer<float2> runs(sampled_rows, algorithms.scratch());
  sample_rows<<<sampled_rows, block_size, 0, algorithms.stream()>>>(matrix, chosen->place_of.data(),
                                                                    window_size, runs.data());
  PAGERANK_CUDA_LAUNCHED(sample_rows);
  double as_numbered = 0, by_degree = 0;
  for (const float2& sample : algorithms.fetch(runs.data(), sampled_rows)) {
    as_numbered += sample.x;
    by_degree += sample.y;
  }
  // Renumbering costs a gather a link once, and may scatter what else is near.
  const bool falling = by_degree < 0.8 * as_numbered;
  if (!falling) {
    chosen.reset();
    chosen = order_by_number(graph, algorithms);
    if (!chosen) return;
  }
  linked_ = chosen->below_isolated;
  sources_ = falling ? chosen->below_sinks : linked_;
  node_at_ = std::move(chosen->node_at);
  place_of_ = std::move(chosen->place_of);
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
