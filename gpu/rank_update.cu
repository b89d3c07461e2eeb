#include "gpu/rank_update.cuh"

#include <algorithm>

#include "gpu/csr_view.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void regularise(RankState<T> state) {
  const double alpha = *state.alpha;
  const double base =
      (alpha * state.sums->dangling_mass + (1 - alpha)) / static_cast<double>(state.nodes);
  if (global_thread_index() == 0) *state.base = base;
  double change = 0;
  RowSum<double> mass{};  // the certificate builds on it: exact for any number of nodes
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = global_thread_index(); i < state.nodes; i += stride) {
    const double x = alpha * state.y[i] + base;
    const T weight = state.out_weight[i];
    const double divisor = weight > 0 ? static_cast<double>(weight) : 1.0;
    change += fabs(x - state.z[i] * divisor);
    state.z[i] = static_cast<T>(x / divisor);
    if (weight == 0) mass.add(x);
  }
  change = block_sum<sum_block_size>(change);
  const double dangling_mass = block_sum<sum_block_size>(mass.value());
  if (threadIdx.x == 0) state.block_sums[blockIdx.x] = {change, dangling_mass};
}

template <class T>
__global__ void evaluate(RankState<T> state, const NodeId* order, double* x) {
  const std::uint64_t i = global_thread_index();
  if (i < state.nodes) x[order != nullptr ? order[i] : i] = *state.alpha * state.y[i] + *state.base;
}

}  // namespace

template <class T>
void update_ranks(const RankState<T>& state, cudaStream_t stream) {
  const unsigned blocks = std::min(blocks_for(state.nodes, sum_block_size), most_sum_blocks);
  regularise<<<blocks, sum_block_size, 0, stream>>>(state);
  PAGERANK_CUDA_LAUNCHED(regularise);
  add_block_sums(state.block_sums, blocks, state.sums, stream);
}

template <class T>
void write_ranks(const RankState<T>& state, const NodeId* order, double* x, cudaStream_t stream) {
  evaluate<<<blocks_for(state.nodes, sum_block_size), sum_block_size, 0, stream>>>(state, order, x);
  PAGERANK_CUDA_LAUNCHED(evaluate);
}

template void update_ranks<float>(const RankState<float>&, cudaStream_t);
template void update_ranks<double>(const RankState<double>&, cudaStream_t);
template void write_ranks<float>(const RankState<float>&, const NodeId*, double*, cudaStream_t);
template void write_ranks<double>(const RankState<double>&, const NodeId*, double*, cudaStream_t);

}  // namespace pagerank::gpu
