#include "gpu/residual.cuh"

#include <algorithm>

#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

/// A warp a row, as in spmv_vector.cu; blocks walk over the rows so that their number stays fixed.
__global__ void add_residuals(ResidualInput input, double alpha, NodeSums* block_sums) {
  const CsrView<double>& links = input.in_links;
  const double base =
      (alpha * input.sums->dangling_mass + (1 - alpha)) / static_cast<double>(links.rows);
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x / warp_size;
  double residual = 0;
  for (std::uint64_t row = global_thread_index() / warp_size; row < links.rows; row += stride) {
    RowSum<double> y{};
    const EdgeIndex row_end = links.row_offsets[row + 1];
    for (EdgeIndex k = links.row_offsets[row] + lane; k < row_end; k += warp_size) {
      const NodeId source = links.column_indices[k];
      const double weight =
          links.values != nullptr ? links.values[k] : input.inverse_out_weight[source];
      y.add(__dmul_rn(weight, input.x[source]));
    }
    y.add_over_warp();
    if (lane == 0) residual += fabs(alpha * y.value() + base - input.x[row]);
  }
  residual = block_sum<sum_block_size>(residual);
  if (threadIdx.x == 0) block_sums[blockIdx.x] = {residual, 0};
}

}  // namespace

void residual_l1(const ResidualInput& input, double alpha, NodeSums* block_sums, NodeSums* residual,
                 cudaStream_t stream) {
  const unsigned blocks =
      std::min(blocks_for(input.in_links.rows * warp_size, sum_block_size), most_sum_blocks);
  add_residuals<<<blocks, sum_block_size, 0, stream>>>(input, alpha, block_sums);
  PAGERANK_CUDA_LAUNCHED(add_residuals);
  add_block_sums(block_sums, blocks, residual, stream);
}

}  // namespace pagerank::gpu
