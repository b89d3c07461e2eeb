#include "gpu/residual.cuh"

#include <algorithm>

#include "gpu/row_sum.cuh"

namespace pagerank::gpu {
namespace {

unsigned sum_blocks(std::uint64_t nodes) {
  return std::min(blocks_for(nodes, sum_block_size), most_sum_blocks);
}

/// z = what the product gathers: x, or x / out-weight where the matrix has no values; and block
/// sums of the dangling mass, to which the last node, if it stands for others, adds theirs.
__global__ void scale(std::uint64_t nodes, const double* x, const double* inverse_out_weight,
                      bool has_values, double more_unlinked, double* z, NodeSums* block_sums) {
  RowSum<double> mass{};
  if (more_unlinked > 0 && global_thread_index() == 0) mass.add(more_unlinked * x[nodes - 1]);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = global_thread_index(); i < nodes; i += stride) {
    const double inverse = inverse_out_weight[i];
    z[i] = has_values ? x[i] : x[i] * inverse;
    if (inverse == 0) mass.add(x[i]);
  }
  const double sum = block_sum<sum_block_size>(mass.value());
  if (threadIdx.x == 0) block_sums[blockIdx.x] = {0, sum};
}

/// y = G(x) - x, where it was B x, and block sums of its magnitude.
__global__ void compare(std::uint64_t nodes, const double* x, double* y, double alpha,
                        double more_unlinked, const NodeSums* sums, NodeSums* block_sums) {
  const double base =
      (alpha * sums->dangling_mass + (1 - alpha)) / (static_cast<double>(nodes) + more_unlinked);
  double change = 0;
  if (more_unlinked > 0 && global_thread_index() == 0) {
    change = more_unlinked * fabs(base - x[nodes - 1]);
  }
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = global_thread_index(); i < nodes; i += stride) {
    y[i] = alpha * y[i] + base - x[i];
    change += fabs(y[i]);
  }
  change = block_sum<sum_block_size>(change);
  if (threadIdx.x == 0) block_sums[blockIdx.x] = {change, 0};
}

/// norm->change = the sum of the blocks'.
__global__ void add_changes(const NodeSums* block_sums, unsigned blocks, NodeSums* norm) {
  const NodeSums sum = sum_of_blocks(block_sums, blocks);
  if (threadIdx.x == 0) norm->change = sum.change;
}

}  // namespace

Residual::Residual(const CsrView<double>& in_links, const double* inverse_out_weight,
                   double more_unlinked, const ScratchMemory& memory,
                   const std::optional<ScratchMemory>& reserved)
    : in_links_(in_links),
      inverse_out_weight_(inverse_out_weight),
      more_unlinked_(more_unlinked),
      spmv_(make_compensated_spmv(in_links, reserved, memory.stream())),
      z_(in_links.rows, memory),
      y_(in_links.rows, memory),
      block_sums_(most_sum_blocks, memory) {}

std::size_t Residual::vector_bytes(std::uint64_t nodes) {
  return 2 * ScratchMemory::rounded(nodes * sizeof(double)) +
         ScratchMemory::rounded(most_sum_blocks * sizeof(NodeSums));
}

std::size_t Residual::other_bytes(const MatrixFacts& matrix) {
  return compensated_spmv_bytes(matrix.node_count(), matrix.link_count());
}

void Residual::evaluate(const double* x, double alpha, NodeSums* norm, cudaStream_t stream) {
  const std::uint64_t nodes = in_links_.rows;
  const unsigned blocks = sum_blocks(nodes);
  scale<<<blocks, sum_block_size, 0, stream>>>(nodes, x, inverse_out_weight_,
                                               in_links_.values != nullptr, more_unlinked_,
                                               z_.data(), block_sums_.data());
  PAGERANK_CUDA_LAUNCHED(scale);
  add_block_sums(block_sums_.data(), blocks, norm, stream);
  spmv_->multiply(z_.data(), y_.data(), stream);
  compare<<<blocks, sum_block_size, 0, stream>>>(nodes, x, y_.data(), alpha, more_unlinked_, norm,
                                                 block_sums_.data());
  PAGERANK_CUDA_LAUNCHED(compare);
  add_changes<<<1, sum_block_size, 0, stream>>>(block_sums_.data(), blocks, norm);
  PAGERANK_CUDA_LAUNCHED(add_changes);
}

}  // namespace pagerank::gpu
