#pragma once

#include "gpu/block_sums.cuh"
#include "gpu/csr_view.cuh"

namespace pagerank::gpu {

/// What a certificate is computed from, all in double: arrays of one element a node.
struct ResidualInput {
  CsrView<double> in_links;
  const double* inverse_out_weight;
  const double* x;
  const NodeSums* sums;  ///< With the dangling mass of x.
};

/// *residual = {||G(x) - x||_1, 0}, row sums compensated. `block_sums` is scratch of
/// most_sum_blocks elements. Only queues the work.
void residual_l1(const ResidualInput& input, double alpha, NodeSums* block_sums, NodeSums* residual,
                 cudaStream_t stream);

}  // namespace pagerank::gpu
