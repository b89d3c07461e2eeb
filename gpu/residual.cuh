#pragma once

#include <memory>

#include "gpu/block_sums.cuh"
#include "gpu/matrix_facts.cuh"
#include "gpu/spmv_balanced.cuh"

namespace pagerank::gpu {

/// Evaluates G(x) - x in double with compensated row sums: what certificates are made of, whatever
/// kernel and precision found x.
class Residual {
 public:
  /// The arrays, in device memory, outlive it; values of an unweighted graph are null. Links may
  /// still be on their way. Its own vectors are in `memory`, all else comes from `reserved`, or,
  /// where that is unset, from the device. `more_unlinked`: see TransitionMatrix.
  Residual(const CsrView<double>& in_links, const double* inverse_out_weight, double more_unlinked,
           const ScratchMemory& memory, const std::optional<ScratchMemory>& reserved);

  /// What it takes of `memory`, and else.
  [[nodiscard]] static std::size_t vector_bytes(std::uint64_t nodes);
  [[nodiscard]] static std::size_t other_bytes(const MatrixFacts& matrix);

  /// *norm = {||G(x) - x||_1, dangling mass of x}; x in node order. Only queues the work.
  void evaluate(const double* x, double alpha, NodeSums* norm, cudaStream_t stream);

  /// G(x) - x as last evaluated, in node order.
  [[nodiscard]] const double* vector() const { return y_.data(); }

 private:
  CsrView<double> in_links_;
  const double* inverse_out_weight_;
  double more_unlinked_;
  std::unique_ptr<Spmv<double>> spmv_;
  DeviceBuffer<double> z_, y_;  ///< What is multiplied; the product, then the residual.
  DeviceBuffer<NodeSums> block_sums_;
};

}  // namespace pagerank::gpu
