// What the device can do at most, by the simplest programs that do it.
#include <algorithm>

#include "gpu/csr_view.cuh"
#include "gpu/device.cuh"
#include "gpu/device_buffer.cuh"
#include "gpu/timing.cuh"

namespace pagerank::gpu {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double copy_bytes_per_second(const Stream& stream) {
  std::size_t available = 0, total = 0;
  PAGERANK_CUDA(cudaMemGetInfo(&available, &total));
  const std::size_t size = std::min(available / 4, std::size_t{1} << 30);
  DeviceBuffer<char> from(size), to(size);
  from.set_to_zero(stream);
  const auto copy = [&] {
    PAGERANK_CUDA(cudaMemcpyAsync(to.data(), from.data(), size, cudaMemcpyDeviceToDevice, stream));
  };
  return 2 * static_cast<double>(size) / median(time_on_device(stream, {.seconds = 0.05}, copy));
}

constexpr unsigned chains = 8;  ///< Independent multiply-adds that cover each other's latency.
constexpr unsigned steps = 4096;

template <class T>
__global__ void multiply_add(T factor, T* out) {
  T sums[chains];
  for (unsigned c = 0; c < chains; ++c) sums[c] = T(threadIdx.x + c);
#pragma unroll 16
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned c = 0; c < chains; ++c) sums[c] = sums[c] * factor + factor;
  }
  T sum = 0;
  for (unsigned c = 0; c < chains; ++c) sum += sums[c];
  if (sum == T(-1)) *out = sum;  // never: but the compiler does not know, and keeps the chains
}

template <class T>
double fma_flops_per_second(int device, const Stream& stream) {
  int multiprocessors = 0;
  PAGERANK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  constexpr unsigned block_size = 256;
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * 8;
  DeviceBuffer<T> out(1);
  const auto run = [&] {
    multiply_add<<<blocks, block_size, 0, stream>>>(T(0.5), out.data());
    PAGERANK_CUDA_LAUNCHED(multiply_add);
  };
  return 2.0 * chains * steps * blocks * block_size /
         median(time_on_device(stream, {.seconds = 0.05}, run));
}

}  // namespace

Ceilings measure_ceilings(int device, Precision precision) {
  enter_device(device);
  const Stream stream;
  return {copy_bytes_per_second(stream), precision == Precision::float64
                                             ? fma_flops_per_second<double>(device, stream)
                                             : fma_flops_per_second<float>(device, stream)};
}

}  // namespace pagerank::gpu
