// As reduce_shared.cu, but the lanes of a warp hand their sums over through registers: shared
// memory carries one value a warp, and two barriers take the place of a barrier for each level of
// the tree.
//
// Do not expect more than a few microseconds of it. Over a short array the steps are a part of the
// time worth saving; over a long one each block takes them once after thousands of loads, and both
// kernels wait for the memory: what decides then is how many bytes are in flight, and in that
// (magnitude_sum.cuh) the two do not differ.
#include "gpu/magnitude_sum.cuh"
#include "gpu/reduction.cuh"

namespace pagerank::gpu {
namespace {

template <class T>
__global__ void sum_magnitudes_shuffle(const T* x, std::uint64_t length, double* block_sums) {
  const double sum = block_sum<sum_block_size>(thread_magnitude_sum(x, length));
  if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

template <class T>
__global__ void add_sums_shuffle(const double* block_sums, unsigned blocks, T* result) {
  double sum = 0;
  for (unsigned block = threadIdx.x; block < blocks; block += sum_block_size) {
    sum += block_sums[block];
  }
  sum = block_sum<sum_block_size>(sum);
  if (threadIdx.x == 0) *result = static_cast<T>(sum);
}

template <class T>
class ShuffleReduction final : public Reduction<T> {
 public:
  explicit ShuffleReduction(std::uint64_t length)
      : length_(length), blocks_(magnitude_sum_blocks<T>(length)), block_sums_(blocks_) {}

  void reduce(const T* x, T* result, cudaStream_t stream) override {
    sum_magnitudes_shuffle<<<blocks_, sum_block_size, 0, stream>>>(x, length_, block_sums_.data());
    PAGERANK_CUDA_LAUNCHED(sum_magnitudes_shuffle);
    add_sums_shuffle<<<1, sum_block_size, 0, stream>>>(block_sums_.data(), blocks_, result);
    PAGERANK_CUDA_LAUNCHED(add_sums_shuffle);
  }

 private:
  std::uint64_t length_;
  unsigned blocks_;
  DeviceBuffer<double> block_sums_;
};

template <class T>
std::unique_ptr<Reduction<T>> make(std::uint64_t length, cudaStream_t) {
  return std::make_unique<ShuffleReduction<T>>(length);
}

}  // namespace

extern const ReductionKernel reduce_shuffle;
const ReductionKernel reduce_shuffle{
    "shuffle", "a warp adds through registers, shared memory carries one value a warp", make<float>,
    make<double>};

}  // namespace pagerank::gpu
