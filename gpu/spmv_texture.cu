// The block kernel with x read through the texture path: the third step of 2011, when global loads
// were not cached and the texture cache was the only one that gathers could use. Today both go
// through the same L1 cache, and in float what is left is the fetch's own cost.
// After the blog post "Squeezing performance out of CUDA" of 2011, its third kernel.
#include <algorithm>

#include "gpu/row_sum.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

__device__ double fetch(cudaTextureObject_t texture, NodeId i, float) {
  return tex1Dfetch<float>(texture, static_cast<int>(i));
}
/// There is no texture of doubles: fetch the two halves.
__device__ double fetch(cudaTextureObject_t texture, NodeId i, double) {
  const int2 halves = tex1Dfetch<int2>(texture, static_cast<int>(i));
  return __hiloint2double(halves.y, halves.x);
}

template <class T>
__global__ void multiply_texture(CsrView<T> matrix, cudaTextureObject_t texture, const T* x, T* y) {
  __shared__ RowSum<T> sums[warp_size];
  for (std::uint64_t row = blockIdx.x; row < matrix.rows; row += gridDim.x) {
    RowSum<T> sum{};
    const EdgeIndex row_end = matrix.row_offsets[row + 1];
    for (EdgeIndex k = matrix.row_offsets[row] + threadIdx.x; k < row_end; k += warp_size) {
      const NodeId column = matrix.column_indices[k];
      // Beyond the largest linear texture x comes by the read-only path instead.
      const T gathered =
          texture != 0 ? static_cast<T>(fetch(texture, column, T())) : __ldg(x + column);
      sum.add(matrix.values != nullptr ? matrix.values[k] * gathered : gathered);
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

/// A texture over an array of `size` elements that stays where it is.
template <class T>
class LinearTexture {
 public:
  LinearTexture(const T* data, std::uint64_t size) : data_(data) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<T*>(data);
    resource.res.linear.desc =
        std::is_same_v<T, float> ? cudaCreateChannelDesc<float>() : cudaCreateChannelDesc<int2>();
    resource.res.linear.sizeInBytes = size * sizeof(T);
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    PAGERANK_CUDA(cudaCreateTextureObject(&texture_, &resource, &description, nullptr));
  }
  LinearTexture(const LinearTexture&) = delete;
  LinearTexture& operator=(const LinearTexture&) = delete;
  ~LinearTexture() { cudaDestroyTextureObject(texture_); }

  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] cudaTextureObject_t get() const { return texture_; }

 private:
  const T* data_;
  cudaTextureObject_t texture_ = 0;
};

template <class T>
class TextureSpmv final : public Spmv<T> {
 public:
  explicit TextureSpmv(CsrView<T> matrix) : matrix_(matrix) {
    int device = 0, most_texels = 0;
    PAGERANK_CUDA(cudaGetDevice(&device));
    PAGERANK_CUDA(cudaDeviceGetAttribute(&most_texels, cudaDevAttrMaxTexture1DLinearWidth, device));
    fits_ = matrix.rows <= static_cast<std::uint64_t>(most_texels);
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    if (fits_ && (!texture_ || texture_->data() != x)) {
      texture_ = std::make_unique<LinearTexture<T>>(x, matrix_.rows);
    }
    constexpr std::uint64_t most_blocks = 0x7fffffff;
    const auto blocks = static_cast<unsigned>(std::min(matrix_.rows, most_blocks));
    multiply_texture<<<blocks, warp_size, 0, stream>>>(matrix_, fits_ ? texture_->get() : 0, x, y);
    PAGERANK_CUDA_LAUNCHED(multiply_texture);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  CsrView<T> matrix_;
  bool fits_;
  std::unique_ptr<LinearTexture<T>> texture_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t) {
  return std::make_unique<TextureSpmv<T>>(graph.in_links());
}

}  // namespace

extern const SpmvKernel spmv_texture;
const SpmvKernel spmv_texture{"texture", "the block kernel, x read through the texture path",
                              no_extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
