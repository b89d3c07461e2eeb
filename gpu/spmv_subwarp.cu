// 2 to 32 lanes a row, picked from the mean degree: where rows hold 8 links on average, a whole
// warp a row leaves 24 of its lanes idle. Sums are added by shuffles within the group of lanes.
#include <algorithm>
#include <bit>

#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

template <unsigned lanes, class T>
__global__ void multiply_subwarp(CsrView<T> matrix, const T* x, T* y) {
  const std::uint64_t row = global_thread_index() / lanes;
  const unsigned lane = threadIdx.x % lanes;
  RowSum<T> sum{};
  if (row < matrix.rows) {
    const EdgeIndex row_end = matrix.row_offsets[row + 1];
    for (EdgeIndex k = matrix.row_offsets[row] + lane; k < row_end; k += lanes) {
      sum.add(matrix.product(k, x));
    }
  }
  sum.template add_over_lanes<lanes>();  // all 32 lanes of the warp, also those beyond the last row
  if (lane == 0 && row < matrix.rows) y[row] = static_cast<T>(sum.value());
}

template <class T>
class SubwarpSpmv final : public Spmv<T> {
 public:
  explicit SubwarpSpmv(CsrView<T> matrix) : matrix_(matrix) {
    const std::uint64_t mean_degree = (matrix.links + matrix.rows - 1) / matrix.rows;
    lanes_ = std::bit_ceil(std::clamp<unsigned>(
        static_cast<unsigned>(std::min<std::uint64_t>(mean_degree, warp_size)), 2, warp_size));
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    switch (lanes_) {
      case 2:
        return launch<2>(x, y, stream);
      case 4:
        return launch<4>(x, y, stream);
      case 8:
        return launch<8>(x, y, stream);
      case 16:
        return launch<16>(x, y, stream);
      default:
        return launch<32>(x, y, stream);
    }
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  template <unsigned lanes>
  void launch(const T* x, T* y, cudaStream_t stream) {
    constexpr unsigned block_size = 256;
    const unsigned blocks = blocks_for(matrix_.rows * lanes, block_size);
    multiply_subwarp<lanes><<<blocks, block_size, 0, stream>>>(matrix_, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_subwarp);
  }

  CsrView<T> matrix_;
  unsigned lanes_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<SubwarpSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_subwarp;
const SpmvKernel spmv_subwarp{"subwarp", "2 to 32 lanes a row, picked from the mean degree",
                              no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
