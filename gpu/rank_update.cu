#include "gpu/rank_update.cuh"

#include <algorithm>

#include "gpu/csr_view.cuh"
#include "gpu/overlapping_launch.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

/// Neighbouring elements, loaded and stored at once.
constexpr unsigned together = 4;
/// So many of them by a thread at once.
constexpr unsigned rounds = 2;
template <class T>
struct alignas(16) Together {
  T element[together];
};

template <class T, bool has_source>
__global__ void regularise(RankState<T> state, IterationEnd end) {
  const double alpha = state.scalars->alpha;
  const double base =
      (alpha * state.sums->dangling_mass + state.scalars->teleport) / state.graph_nodes;
  if (global_thread_index() == 0) *state.base = base;
  NodeSums sums{0, 0};
  const auto next_z = [&](T y, T source, T z, T weight) {
    double x = alpha * y + base;
    if constexpr (has_source) x += source;
    const T divisor = weight > 0 ? weight : T(1);
    sums.change += fabs(x - static_cast<double>(z) * divisor);
    if (weight == 0) sums.dangling_mass += x;
    return static_cast<T>(x) / divisor;
  };
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t linked = state.nodes - state.isolated;
  const std::uint64_t groups = linked / together;
  const auto* const ys = reinterpret_cast<const Together<T>*>(state.y);
  const auto* const sources = reinterpret_cast<const Together<T>*>(state.source);
  const auto* const weights = reinterpret_cast<const Together<T>*>(state.out_weight);
  auto* const zs = reinterpret_cast<Together<T>*>(state.z);
  // All that a thread reads in a round is under way before it computes, in the first round before
  // the SpMV has ended, but for y.
  for (std::uint64_t first = global_thread_index(); first < groups; first += rounds * stride) {
    Together<T> y[rounds], weight[rounds], source[rounds], z[rounds];
    const auto each_group = [&](const auto& body) {
#pragma unroll
      for (unsigned r = 0; r < rounds; ++r) {
        const std::uint64_t i = first + r * stride;
        if (i < groups) body(r, i);
      }
    };
    each_group([&](unsigned r, std::uint64_t i) {
      weight[r] = weights[i];
      if constexpr (has_source) source[r] = sources[i];
      z[r] = zs[i];
    });
    wait_for_kernel_before();
    each_group([&](unsigned r, std::uint64_t i) { y[r] = ys[i]; });
    each_group([&](unsigned r, std::uint64_t i) {
      for (unsigned k = 0; k < together; ++k) {
        z[r].element[k] = next_z(y[r].element[k], has_source ? source[r].element[k] : T(0),
                                 z[r].element[k], weight[r].element[k]);
      }
      zs[i] = z[r];
    });
  }
  wait_for_kernel_before();
  const auto next_of = [&](std::uint64_t i) {
    const T source = has_source ? state.source[i] : T(0);
    state.z[i] = next_z(state.y[i], source, state.z[i], state.out_weight[i]);
  };
  const std::uint64_t rest = groups * together + global_thread_index();
  if (rest < linked) next_of(rest);
  if (state.isolated > 0 && global_thread_index() == together) {  // has no other of the rest
    const NodeSums others = sums;
    sums = {0, 0};
    next_of(linked);
    const double count = state.isolated_in_graph;
    sums = {others.change + count * sums.change, others.dangling_mass + count * sums.dangling_mass};
  }
  sums = block_sums_of<sum_block_size>(sums);
  if (threadIdx.x == 0) state.block_sums[blockIdx.x] = sums;
  end.block_done(state.block_sums);
}

template <class T>
__global__ void evaluate(RankState<T> state, const NodeId* order, bool add, double* x) {
  const std::uint64_t i = global_thread_index();
  if (i >= state.nodes) return;
  double rank = state.scalars->alpha * state.y[i] + *state.base;
  if (state.source != nullptr) rank += state.source[i];
  double& written = x[order != nullptr ? order[i] : i];
  written = add ? written + rank : rank;
}

template <class T>
__global__ void scale(RankState<T> state, const NodeId* order, const double* x) {
  const std::uint64_t i = global_thread_index();
  if (i >= state.nodes) return;
  const T weight = state.out_weight[i];
  const double rank = x[order != nullptr ? order[i] : i];
  state.z[i] = static_cast<T>(rank) / (weight > 0 ? weight : T(1));
}

/// Block sums of x, as dangling mass; the last one counts `more` times more.
__global__ void add_up(std::uint64_t nodes, const double* x, double more, NodeSums* block_sums) {
  RowSum<double> mass{};
  if (more > 0 && global_thread_index() == 0) mass.add(more * x[nodes - 1]);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = global_thread_index(); i < nodes; i += stride) mass.add(x[i]);
  const double sum = block_sum<sum_block_size>(mass.value());
  if (threadIdx.x == 0) block_sums[blockIdx.x] = {0, sum};
}

__global__ void divide(std::uint64_t nodes, double* x, const NodeSums* sum) {
  const std::uint64_t i = global_thread_index();
  if (i < nodes) x[i] /= sum->dangling_mass;
}

}  // namespace

unsigned update_blocks(std::uint64_t nodes) {
  return std::clamp(blocks_for((nodes + together - 1) / together, sum_block_size), 1U,
                    most_sum_blocks);
}

template <class T>
void update_ranks(const RankState<T>& state, const IterationEnd& end, cudaStream_t stream) {
  const std::uint64_t linked = state.nodes - state.isolated;
  const auto kernel = state.source != nullptr ? regularise<T, true> : regularise<T, false>;
  launch_overlapping(kernel, update_blocks(linked), sum_block_size, 0, stream, state, end);
}

template <class T>
void write_ranks(const RankState<T>& state, const NodeId* order, bool add, double* x,
                 cudaStream_t stream) {
  evaluate<<<blocks_for(state.nodes, sum_block_size), sum_block_size, 0, stream>>>(state, order,
                                                                                   add, x);
  PAGERANK_CUDA_LAUNCHED(evaluate);
}

template <class T>
void read_ranks(const RankState<T>& state, const NodeId* order, const double* x,
                cudaStream_t stream) {
  scale<<<blocks_for(state.nodes, sum_block_size), sum_block_size, 0, stream>>>(state, order, x);
  PAGERANK_CUDA_LAUNCHED(scale);
}

void normalise(double* x, std::uint64_t nodes, double more, NodeSums* block_sums, NodeSums* sum,
               cudaStream_t stream) {
  const unsigned blocks = update_blocks(nodes);
  add_up<<<blocks, sum_block_size, 0, stream>>>(nodes, x, more, block_sums);
  PAGERANK_CUDA_LAUNCHED(add_up);
  add_block_sums(block_sums, blocks, sum, stream);
  divide<<<blocks_for(nodes, sum_block_size), sum_block_size, 0, stream>>>(nodes, x, sum);
  PAGERANK_CUDA_LAUNCHED(divide);
}

template void update_ranks<float>(const RankState<float>&, const IterationEnd&, cudaStream_t);
template void update_ranks<double>(const RankState<double>&, const IterationEnd&, cudaStream_t);
template void read_ranks<float>(const RankState<float>&, const NodeId*, const double*,
                                cudaStream_t);
template void read_ranks<double>(const RankState<double>&, const NodeId*, const double*,
                                 cudaStream_t);
template void write_ranks<float>(const RankState<float>&, const NodeId*, bool, double*,
                                 cudaStream_t);
template void write_ranks<double>(const RankState<double>&, const NodeId*, bool, double*,
                                  cudaStream_t);

}  // namespace pagerank::gpu
