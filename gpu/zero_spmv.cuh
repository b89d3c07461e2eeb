#pragma once

#include "gpu/spmv.cuh"

namespace pagerank::gpu {

/// The product with a matrix of a graph without links, for kernels that cannot lay out nothing.
template <class T>
class ZeroSpmv final : public Spmv<T> {
 public:
  explicit ZeroSpmv(std::uint64_t rows) : rows_(rows) {}
  void multiply(const T*, T* y, cudaStream_t stream) override {
    PAGERANK_CUDA(cudaMemsetAsync(y, 0, rows_ * sizeof(T), stream));
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override { return rows_ * sizeof(T); }

 private:
  std::uint64_t rows_;
};

}  // namespace pagerank::gpu
