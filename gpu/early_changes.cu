#include "gpu/early_changes.cuh"

#include <algorithm>

#include "gpu/device_algorithms.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

/// next = inverse_out_weight * (A x) of the rows whose last link is one of [begin, end), of rows
/// too long to see as if (A x) were 1.
template <unsigned lanes, class T>
__global__ void multiply_arrived(CsrView<T> matrix, EdgeIndex begin, EdgeIndex end,
                                 const double* inverse_out_weight, const T* x, T* next) {
  constexpr unsigned rows_of_warp = warp_size / lanes;
  const std::uint64_t first = upper_bound(matrix.row_offsets, matrix.rows + 1, begin) - 1;
  const std::uint64_t last =
      end < matrix.links ? upper_bound(matrix.row_offsets, matrix.rows + 1, end) - 1 : matrix.rows;
  const std::uint64_t warp = global_thread_index() / warp_size;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / warp_size;
  const unsigned lane = threadIdx.x % lanes;
  for (std::uint64_t of_warp = first + warp * rows_of_warp; of_warp < last;
       of_warp += warps * rows_of_warp) {
    const std::uint64_t row = of_warp + threadIdx.x % warp_size / lanes;
    RowSum<T> sum{};
    EdgeIndex from = 0, to = 0;
    if (row < last) {
      from = matrix.row_offsets[row];
      to = matrix.row_offsets[row + 1];
    }
    const bool seen = to - from <= longest_seen_row;
    for (EdgeIndex k = from + lane; seen && k < to; k += lanes) sum.add(matrix.product(k, x));
    sum.template add_over_lanes<lanes>();
    if (lane == 0 && row < last) {
      next[row] = static_cast<T>(inverse_out_weight[row] * (seen ? sum.value() : 1));
    }
  }
}

/// What see_nodes() multiplies with.
template <class T>
struct Walks {
  const double* inverse_out_weight;
  const T* arrays[early_iterations - 1];  ///< Of walks of none, one, .. links.
  int known;                              ///< So many arrays.

  /// Of walks of `known` links that end in `node`, as the arrays are of shorter ones.
  __device__ double longest(const CsrView<T>& matrix, NodeId node) const {
    const EdgeIndex begin = matrix.row_offsets[node], end = matrix.row_offsets[node + 1];
    if (end - begin > longest_seen_row) return inverse_out_weight[node];
    double sum = 0;
    for (EdgeIndex k = begin; k < end; ++k) sum += matrix.product(k, arrays[known - 1]);
    return sum * inverse_out_weight[node];
  }
};

/// The even ones are nodes, evenly apart, the odd ones targets of links evenly apart. A warp each.
template <class T>
__global__ void see_nodes(CsrView<T> matrix, Walks<T> walks, std::uint64_t count, SeenNode* seen) {
  const std::uint64_t index = global_thread_index() / warp_size;
  if (index >= count) return;  // the whole warp leaves together
  const double place = (static_cast<double>(index / 2) + 0.5) / static_cast<double>(count / 2);
  const auto at = [&](std::uint64_t elements) {
    return min(static_cast<std::uint64_t>(place * static_cast<double>(elements)), elements - 1);
  };
  const std::uint64_t node =
      index % 2 == 0 ? at(matrix.rows)
                     : upper_bound(matrix.row_offsets, matrix.rows + 1, at(matrix.links)) - 1;
  const EdgeIndex begin = matrix.row_offsets[node], end = matrix.row_offsets[node + 1];
  const bool unchanging = end - begin > longest_seen_row;
  double sums[early_iterations] = {};
  for (EdgeIndex k = begin + threadIdx.x % warp_size; !unchanging && k < end; k += warp_size) {
    const double element = matrix.values != nullptr ? matrix.values[k] : 1;
    const NodeId source = matrix.column_indices[k];
#pragma unroll
    for (int a = 0; a < early_iterations; ++a) {
      if (a < walks.known) sums[a] += element * walks.arrays[a][source];
      if (a == walks.known) sums[a] += element * walks.longest(matrix, source);
    }
  }
#pragma unroll
  for (double& sum : sums) sum = warp_sum(sum);
  if (threadIdx.x % warp_size > 0) return;
  SeenNode& out = seen[index];
#pragma unroll
  for (int k = 0; k < early_iterations; ++k) out.walks[k] = unchanging ? 1 : sums[k];
  out.in_links = end - begin;
  out.dangling = walks.inverse_out_weight[node] == 0 ? 1 : 0;
}

template <class T>
void multiply(const CsrView<T>& matrix, EdgeIndex begin, EdgeIndex end,
              const double* inverse_out_weight, const T* x, T* next, cudaStream_t stream) {
  constexpr unsigned lanes = 8;
  constexpr unsigned blocks = 2048;  // More than fit at once, so that none ends late.
  multiply_arrived<lanes>
      <<<blocks, block_size, 0, stream>>>(matrix, begin, end, inverse_out_weight, x, next);
  PAGERANK_CUDA_LAUNCHED(multiply_arrived);
}

/// x_0 = 1 over the sources' out-weights.
template <class T>
void start(const double* inverse_out_weight, std::uint64_t nodes, T* none, cudaStream_t stream) {
  queue_for_each(
      nodes, [=] __device__(std::uint64_t i) { none[i] = static_cast<T>(inverse_out_weight[i]); },
      stream);
}

constexpr std::uint32_t most_nodes_to_see = 2048;

/// So many that an eighth of the links is looked at from them, if nodes have as many each; but not
/// so few that they tell nothing, which is more links where nodes have hundreds.
std::uint64_t nodes_to_see(std::uint64_t nodes, EdgeIndex links) {
  const double degree = static_cast<double>(links) / static_cast<double>(nodes);
  const double most = static_cast<double>(links) / (8 * degree * degree);
  return static_cast<std::uint64_t>(std::clamp(most, 256.0, double{most_nodes_to_see})) / 2 * 2;
}

}  // namespace

template <class T>
EarlyChanges<T>::EarlyChanges(const DeviceGraph<T>& graph, cudaStream_t stream)
    : memory_(stream,
              3 * ScratchMemory::rounded(graph.node_count() * sizeof(T)) +
                  ScratchMemory::rounded(most_nodes_to_see * sizeof(SeenNode)),
              graph.most_held()),
      inverse_out_weight_(graph.inverse_out_weight()),
      none_(graph.node_count(), memory_),
      first_(graph.node_count(), memory_),
      second_(graph.node_count(), memory_) {
  start(inverse_out_weight_, graph.node_count(), none_.data(), stream);
  // Rows before the first link are told of by none.
  first_.set_to_zero(stream);
  second_.set_to_zero(stream);
}

template <class T>
void EarlyChanges<T>::see(const CsrView<T>& links, EdgeIndex begin, EdgeIndex end) {
  multiply(links, begin, end, inverse_out_weight_, none_.data(), first_.data(), memory_.stream());
}

template <class T>
Outlook EarlyChanges<T>::outlook(const CsrView<T>& links, int arrays, double alpha,
                                 double tolerance) const {
  const std::uint64_t count = nodes_to_see(links.rows, links.links);
  DeviceBuffer<SeenNode> seen(count, memory_);
  const Walks<T> walks{inverse_out_weight_, {none_.data(), first_.data(), second_.data()}, arrays};
  see_nodes<<<blocks_for(count * warp_size, block_size), block_size, 0, memory_.stream()>>>(
      links, walks, count, seen.data());
  PAGERANK_CUDA_LAUNCHED(see_nodes);
  return outlook_by_early_changes(DeviceAlgorithms(memory_).fetch(seen.data(), count), arrays + 1,
                                  links.rows, links.links, alpha, tolerance);
}

template <class T>
bool EarlyChanges<T>::promise_more_than(double iterations, const CsrView<T>& links, double alpha,
                                        double tolerance) {
  const Outlook soon = outlook(links, 2, alpha, tolerance);
  if (soon.iterations > iterations || soon.growth < worth_another_look) {
    return soon.iterations > iterations;
  }
  multiply(links, 0, links.links, inverse_out_weight_, first_.data(), second_.data(),
           memory_.stream());
  return outlook(links, 3, alpha, tolerance).iterations > iterations;
}

template class EarlyChanges<float>;
template class EarlyChanges<double>;

}  // namespace pagerank::gpu
