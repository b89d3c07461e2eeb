#include <algorithm>

#include "gpu/benchmark.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

class BusBenchmark::Impl {
 public:
  Impl(int device, std::size_t bytes) : device_(device), bytes_(bytes), from_(bytes), to_(bytes) {}

  [[nodiscard]] double copy(std::size_t piece_bytes) {
    PAGERANK_CUDA(cudaSetDevice(device_));
    begin_.record(stream_);
    for (std::size_t at = 0; at < bytes_; at += piece_bytes) {
      PAGERANK_CUDA(cudaMemcpyAsync(to_.data() + at, from_.data() + at,
                                    std::min(piece_bytes, bytes_ - at), cudaMemcpyHostToDevice,
                                    stream_));
    }
    end_.record(stream_);
    end_.wait();
    return end_.seconds_since(begin_);
  }

 private:
  int device_;
  std::size_t bytes_;
  PinnedArray<char> from_;
  DeviceBuffer<char> to_;
  Stream stream_;
  Event begin_, end_;
};

BusBenchmark::BusBenchmark(int device, std::size_t bytes) {
  enter_device(device);
  impl_ = std::make_unique<Impl>(device, bytes);
}
BusBenchmark::~BusBenchmark() = default;

double BusBenchmark::copy(std::size_t piece_bytes) {
  return impl_->copy(piece_bytes);
}

}  // namespace pagerank::gpu
