// One warp a row: the 32 lanes read neighbouring elements, so that no more of the index array is
// read than they need but for its ends, and add their partial sums through registers. Rows shorter
// than 32 leave lanes idle. After N. Bell, M. Garland: Efficient Sparse Matrix-Vector
// Multiplication on CUDA (2008).
#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void multiply_vector(CsrView<T> matrix, const T* x, T* y) {
  const std::uint64_t row = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (row >= matrix.rows) return;  // the whole warp leaves together
  RowSum<T> sum{};
  const EdgeIndex row_end = matrix.row_offsets[row + 1];
  for (EdgeIndex k = matrix.row_offsets[row] + lane; k < row_end; k += warp_size) {
    sum.add(matrix.product(k, x));
  }
  sum.add_over_warp();
  if (lane == 0) y[row] = static_cast<T>(sum.value());
}

template <class T>
class VectorSpmv final : public Spmv<T> {
 public:
  explicit VectorSpmv(CsrView<T> matrix) : matrix_(matrix) {}

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    constexpr unsigned block_size = 256;
    const unsigned blocks = blocks_for(matrix_.rows * warp_size, block_size);
    multiply_vector<<<blocks, block_size, 0, stream>>>(matrix_, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_vector);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  CsrView<T> matrix_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<VectorSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_vector;
const SpmvKernel spmv_vector{"vector",
                             "one warp a row: coalesced reads, partial sums added by shuffles",
                             no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
