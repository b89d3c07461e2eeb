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
  double change = 0;
  RowSum<double> mass{};  // the certificate builds on it: exact for any number of nodes
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = global_thread_index(); i < state.nodes; i += stride) {
    const double previous = state.x[i];
    const double x = alpha * state.y[i] + base;
    const double scale = state.inverse_out_weight[i];
    state.x[i] = x;
    state.z[i] = static_cast<T>(x * scale);
    change += fabs(x - previous);
    if (scale == 0) mass.add(x);
  }
  change = block_sum<sum_block_size>(change);
  const double dangling_mass = block_sum<sum_block_size>(mass.value());
  if (threadIdx.x == 0) state.block_sums[blockIdx.x] = {change, dangling_mass};
}

}  // namespace

template <class T>
void update_ranks(const RankState<T>& state, cudaStream_t stream) {
  const unsigned blocks = std::min(blocks_for(state.nodes, sum_block_size), most_sum_blocks);
  regularise<<<blocks, sum_block_size, 0, stream>>>(state);
  PAGERANK_CUDA_LAUNCHED(regularise);
  add_block_sums(state.block_sums, blocks, state.sums, stream);
}

template void update_ranks<float>(const RankState<float>&, cudaStream_t);
template void update_ranks<double>(const RankState<double>&, cudaStream_t);

}  // namespace pagerank::gpu
