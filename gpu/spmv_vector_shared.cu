// One warp a row, partial sums added in shared memory: the textbook vector kernel. Several warps
// share a block, so the multiprocessor fills up; the sums take a detour through memory that
// spmv_vector.cu saves.
// After N. Bell, M. Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA (2008).
#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

template <class T>
__global__ void multiply_vector_shared(CsrView<T> matrix, const T* x, T* y) {
  __shared__ RowSum<T> sums[block_size];
  const std::uint64_t row = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (row >= matrix.rows) return;  // the whole warp leaves together
  RowSum<T> sum{};
  const EdgeIndex row_end = matrix.row_offsets[row + 1];
  for (EdgeIndex k = matrix.row_offsets[row] + lane; k < row_end; k += warp_size) {
    sum.add(matrix.product(k, x));
  }
  sums[threadIdx.x] = sum;
  // Lanes of a warp need not run in step: each step waits for the one before.
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
    __syncwarp();
    if (lane < distance) sums[threadIdx.x].add(sums[threadIdx.x + distance]);
  }
  if (lane == 0) y[row] = static_cast<T>(sums[threadIdx.x].value());
}

template <class T>
class VectorSharedSpmv final : public Spmv<T> {
 public:
  explicit VectorSharedSpmv(CsrView<T> matrix) : matrix_(matrix) {}

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    const unsigned blocks = blocks_for(matrix_.rows * warp_size, block_size);
    multiply_vector_shared<<<blocks, block_size, 0, stream>>>(matrix_, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_vector_shared);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  CsrView<T> matrix_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<VectorSharedSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_vector_shared;
const SpmvKernel spmv_vector_shared{
    "vector-shared", "one warp a row: coalesced, partial sums added in shared memory",
    no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
