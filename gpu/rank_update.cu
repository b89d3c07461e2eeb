#include "gpu/rank_update.cuh"

#include <algorithm>

#include "gpu/csr_view.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

/// Neighbouring elements, loaded and stored at once.
constexpr unsigned together = 4;
template <class T>
struct alignas(16) Together {
  T element[together];
};

template <class T>
__global__ void regularise(RankState<T> state) {
  const double alpha = *state.alpha;
  const double base =
      (alpha * state.sums->dangling_mass + (1 - alpha)) / static_cast<double>(state.nodes);
  if (global_thread_index() == 0) *state.base = base;
  double change = 0;
  RowSum<double> mass{};  // the certificate builds on it: exact for any number of nodes
  const auto next_z = [&](T y, T z, T weight) {
    const double x = alpha * y + base;
    const T divisor = weight > 0 ? weight : T(1);
    change += fabs(x - static_cast<double>(z) * divisor);
    if (weight == 0) mass.add(x);
    return static_cast<T>(x) / divisor;
  };
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t groups = state.nodes / together;
  const auto* const ys = reinterpret_cast<const Together<T>*>(state.y);
  const auto* const weights = reinterpret_cast<const Together<T>*>(state.out_weight);
  auto* const zs = reinterpret_cast<Together<T>*>(state.z);
  for (std::uint64_t i = global_thread_index(); i < groups; i += stride) {
    const Together<T> y = ys[i], weight = weights[i];
    Together<T> z = zs[i];
    for (unsigned k = 0; k < together; ++k) {
      z.element[k] = next_z(y.element[k], z.element[k], weight.element[k]);
    }
    zs[i] = z;
  }
  const std::uint64_t rest = groups * together + global_thread_index();
  if (rest < state.nodes) {
    state.z[rest] = next_z(state.y[rest], state.z[rest], state.out_weight[rest]);
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

unsigned update_blocks(std::uint64_t nodes) {
  return std::min(blocks_for((nodes + together - 1) / together, sum_block_size), most_sum_blocks);
}

template <class T>
void update_ranks(const RankState<T>& state, cudaStream_t stream) {
  regularise<<<update_blocks(state.nodes), sum_block_size, 0, stream>>>(state);
  PAGERANK_CUDA_LAUNCHED(regularise);
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
