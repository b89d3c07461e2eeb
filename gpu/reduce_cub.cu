// The L1 norm by CUB, the toolkit's templates for kernel authors: the same two steps, tuned for
// each architecture. |x| is not stored anywhere: an iterator computes it as the reduction reads x.
// CUB sees an iterator and not an array, so it cannot load 16 bytes at once as our kernels do.
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>

#include "gpu/device_buffer.cuh"
#include "gpu/reduction.cuh"

namespace pagerank::gpu {
namespace {

/// Gives double for float too, and with it what CUB adds up in.
struct Magnitude {
  template <class T>
  __host__ __device__ double operator()(T x) const {
    return fabs(static_cast<double>(x));
  }
};

template <class T>
class CubReduction final : public Reduction<T> {
 public:
  explicit CubReduction(std::uint64_t length) : length_(length) {
    // Without storage the call only tells how much it needs; that depends on the length alone.
    PAGERANK_CUDA(sum(nullptr, nullptr, nullptr, nullptr));
    storage_ = DeviceBuffer<char>(storage_bytes_);
  }

  void reduce(const T* x, T* result, cudaStream_t stream) override {
    PAGERANK_CUDA(sum(storage_.data(), x, result, stream));
  }

 private:
  cudaError_t sum(void* storage, const T* x, T* result, cudaStream_t stream) {
    const thrust::transform_iterator<Magnitude, const T*> magnitudes(x, Magnitude{});
    return cub::DeviceReduce::Sum(storage, storage_bytes_, magnitudes, result, length_, stream);
  }

  std::uint64_t length_;
  std::size_t storage_bytes_ = 0;
  DeviceBuffer<char> storage_;
};

template <class T>
std::unique_ptr<Reduction<T>> make(std::uint64_t length, cudaStream_t) {
  return std::make_unique<CubReduction<T>>(length);
}

}  // namespace

extern const ReductionKernel reduce_cub;
const ReductionKernel reduce_cub{"cub", "CUB's reduction over an iterator that computes |x|",
                                 make<float>, make<double>};

}  // namespace pagerank::gpu
