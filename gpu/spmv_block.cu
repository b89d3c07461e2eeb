// One block of 32 threads a row, partial sums added in shared memory: the first step away from a
// thread a row, as it was taken in 2011. Reads are coalesced; but a block is the unit that the
// hardware schedules, and a multiprocessor holds at most 32 of them: 1024 threads of 2048 at best.
// After the blog post "Squeezing performance out of CUDA" of 2011, its second kernel.
#include <algorithm>

#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void multiply_block(CsrView<T> matrix, const T* x, T* y) {
  __shared__ RowSum<T> sums[warp_size];
  for (std::uint64_t row = blockIdx.x; row < matrix.rows; row += gridDim.x) {
    RowSum<T> sum{};
    const EdgeIndex row_end = matrix.row_offsets[row + 1];
    for (EdgeIndex k = matrix.row_offsets[row] + threadIdx.x; k < row_end; k += warp_size) {
      sum.add(matrix.product(k, x));
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
      if (threadIdx.x < distance) sums[threadIdx.x].add(sums[threadIdx.x + distance]);
      __syncthreads();
    }
    if (threadIdx.x == 0) y[row] = static_cast<T>(sums[0].value());
  }
}

template <class T>
class BlockSpmv final : public Spmv<T> {
 public:
  explicit BlockSpmv(CsrView<T> matrix) : matrix_(matrix) {}

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    constexpr std::uint64_t most_blocks = 0x7fffffff;
    const auto blocks = static_cast<unsigned>(std::min(matrix_.rows, most_blocks));
    multiply_block<<<blocks, warp_size, 0, stream>>>(matrix_, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_block);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  CsrView<T> matrix_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<BlockSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_block;
const SpmvKernel spmv_block{"block",
                            "32 threads a row, a block each: coalesced, shared-memory tree",
                            no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
