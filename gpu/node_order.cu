#include "gpu/node_order.cuh"

#include <cstring>
#include <optional>

#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {
namespace {

/// The places of some nodes, while copies would wait behind those of the upload: the device reads
/// the nodes' numbers, and writes the places, where the host has them.
std::vector<NodeId> exchange_places(const std::vector<NodeId>& nodes, const NodeId* place_of,
                                    ExchangeMemory& memory, cudaStream_t stream) {
  const std::size_t bytes = nodes.size() * sizeof(NodeId);
  memory.reserve(bytes);
  std::memcpy(memory.on_host(), nodes.data(), bytes);
  auto* const number = reinterpret_cast<NodeId*>(memory.on_device());
  queue_for_each(
      nodes.size(), [=] __device__(std::uint64_t i) { number[i] = place_of[number[i]]; }, stream);
  PAGERANK_CUDA(cudaStreamSynchronize(stream));
  std::vector<NodeId> places(nodes.size());
  std::memcpy(places.data(), memory.on_host(), bytes);
  return places;
}

template <class T>
std::vector<NodeId> places_of(const std::vector<NodeId>& nodes, const NodeId* place_of,
                              const DeviceGraph<T>& graph, DeviceAlgorithms& algorithms) {
  if (graph.is_uploading()) {
    return exchange_places(nodes, place_of, graph.exchange_memory(), algorithms.stream());
  }
  DeviceBuffer<NodeId> numbers = algorithms.upload(nodes, algorithms.scratch());
  NodeId* const number = numbers.data();
  queue_for_each(
      nodes.size(), [=] __device__(std::uint64_t i) { number[i] = place_of[number[i]]; },
      algorithms.stream());
  return algorithms.fetch(number, nodes.size());
}

/// Whether the links of the sampled rows fall into clearly fewer windows in this order than as
/// nodes are numbered: renumbering costs a gather a link once, and may scatter what else is near.
template <class T>
bool gathers_links(const RowSample& sample, const NodeId* place_of, std::uint32_t window_size,
                   const DeviceGraph<T>& graph, DeviceAlgorithms& algorithms) {
  const std::uint64_t nodes = graph.node_count();
  const std::vector<NodeId> places = places_of(sample.columns, place_of, graph, algorithms);
  return sample.runs_per_link(places, nodes, window_size) <
         worth_renumbering * sample.runs_per_link(sample.columns, nodes, window_size);
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
    const NodeId* const columns = graph.columns();
    queue_for_each(
        graph.link_count(),
        [=] __device__(std::uint64_t link) { atomicAdd(degree + columns[link], 1); },
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
  const RowSample sample = graph.row_sample();  // while the links are on their way
  std::optional<KeyOrder> chosen = order_by_degree(graph, algorithms);
  const bool falling =
      gathers_links(sample, chosen->place_of.data(), window_size, graph, algorithms);
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

DeviceBuffer<EdgeIndex> NodeOrder::row_offsets(const EdgeIndex* of_matrix, std::uint64_t rows,
                                               DeviceAlgorithms& algorithms) const {
  DeviceBuffer<EdgeIndex> lengths(rows + 1, algorithms.scratch()),
      offsets(rows + 1, algorithms.scratch());
  EdgeIndex* const length = lengths.data();
  const NodeOrderView order = view();
  queue_for_each(
      rows + 1,
      [=] __device__(std::uint64_t place) {
        if (place == rows) {
          length[place] = 0;
          return;
        }
        const NodeId node = order.node(place);
        length[place] = of_matrix[node + 1] - of_matrix[node];
      },
      algorithms.stream());
  algorithms.exclusive_sum(lengths.data(), offsets.data(), rows + 1);
  return offsets;
}

template NodeOrder::NodeOrder(const DeviceGraph<float>&, std::uint32_t, DeviceAlgorithms&);
template NodeOrder::NodeOrder(const DeviceGraph<double>&, std::uint32_t, DeviceAlgorithms&);

}  // namespace pagerank::gpu
