// The L1 norm, the textbook way: each thread adds its share of the elements, the threads of a block
// add their sums in a tree in shared memory, and a second launch of one block adds the blocks'
// sums. Blocks cannot wait for each other within a launch; the end of the launch is what they wait
// for. Without atomics the order of the additions is fixed, so are the bits. After M. Harris:
// Optimizing Parallel Reduction in CUDA (2007).
#include "gpu/magnitude_sum.cuh"
#include "gpu/reduction.cuh"

namespace pagerank::gpu {
namespace {

/// The sum over all threads of a block, in thread 0. All threads call it, once a kernel.
__device__ double block_sum_in_shared(double value) {
  __shared__ double sums[sum_block_size];
  sums[threadIdx.x] = value;
  // Sequential addressing: the active threads are the first ones and read neighbouring elements.
  // Whole warps fall idle, rather than lanes of every warp, and no two lanes want the same bank.
  for (unsigned distance = sum_block_size / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) sums[threadIdx.x] += sums[threadIdx.x + distance];
  }
  return sums[threadIdx.x];
}

template <class T>
__global__ void sum_magnitudes_shared(const T* x, std::uint64_t length, double* block_sums) {
  const double sum = block_sum_in_shared(thread_magnitude_sum(x, length));
  if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

template <class T>
__global__ void add_sums_shared(const double* block_sums, unsigned blocks, T* result) {
  double sum = 0;
  for (unsigned block = threadIdx.x; block < blocks; block += sum_block_size) {
    sum += block_sums[block];
  }
  sum = block_sum_in_shared(sum);
  if (threadIdx.x == 0) *result = static_cast<T>(sum);
}

template <class T>
class SharedTreeReduction final : public Reduction<T> {
 public:
  explicit SharedTreeReduction(std::uint64_t length)
      : length_(length), blocks_(magnitude_sum_blocks<T>(length)), block_sums_(blocks_) {}

  void reduce(const T* x, T* result, cudaStream_t stream) override {
    sum_magnitudes_shared<<<blocks_, sum_block_size, 0, stream>>>(x, length_, block_sums_.data());
    PAGERANK_CUDA_LAUNCHED(sum_magnitudes_shared);
    add_sums_shared<<<1, sum_block_size, 0, stream>>>(block_sums_.data(), blocks_, result);
    PAGERANK_CUDA_LAUNCHED(add_sums_shared);
  }

 private:
  std::uint64_t length_;
  unsigned blocks_;
  DeviceBuffer<double> block_sums_;
};

template <class T>
std::unique_ptr<Reduction<T>> make(std::uint64_t length, cudaStream_t) {
  return std::make_unique<SharedTreeReduction<T>>(length);
}

}  // namespace

extern const ReductionKernel reduce_shared_tree;
const ReductionKernel reduce_shared_tree{
    "shared-tree", "a block's threads add their sums in a tree in shared memory", make<float>,
    make<double>};

}  // namespace pagerank::gpu
