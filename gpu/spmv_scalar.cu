// One thread a row: the first kernel everyone writes. Neighbouring threads read the index arrays
// far apart (a sector each), and the longest row of a warp keeps the other 31 threads waiting.
// After N. Bell, M. Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA (2008).
#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void multiply_scalar(CsrView<T> matrix, const T* x, T* y) {
  const std::uint64_t row = global_thread_index();
  if (row >= matrix.rows) return;
  RowSum<T> sum{};
  for (EdgeIndex k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
    sum.add(matrix.product(k, x));
  }
  y[row] = static_cast<T>(sum.value());
}

template <class T>
class ScalarSpmv final : public Spmv<T> {
 public:
  explicit ScalarSpmv(CsrView<T> matrix) : matrix_(matrix) {}

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    constexpr unsigned block_size = 256;
    multiply_scalar<<<blocks_for(matrix_.rows, block_size), block_size, 0, stream>>>(matrix_, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_scalar);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  CsrView<T> matrix_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<ScalarSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_scalar;
const SpmvKernel spmv_scalar{"scalar",
                             "one thread a row: simple, uncoalesced, at the mercy of long rows",
                             no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
