#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/pagerank.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/held_memory.hpp"
#include "gpu/scratch_memory.cuh"

namespace pagerank::gpu {

/// Owns an array of T in device memory. Move-only; its elements start undefined.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;

  /// Throws OutOfMemory.
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    allocated(allocate(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }

  /// For work queued into the stream of `scratch`. Throws OutOfMemory.
  DeviceBuffer(std::size_t size, const ScratchMemory& scratch) : size_(size), scratch_(scratch) {
    if (size > 0) data_ = static_cast<T*>(scratch_->take(size * sizeof(T)));
  }

  /// From there, or from the device where there is none.
  DeviceBuffer(std::size_t size, const std::optional<ScratchMemory>& reserved)
      : DeviceBuffer(reserved ? DeviceBuffer(size, *reserved) : DeviceBuffer(size)) {}

  explicit DeviceBuffer(std::span<const T> host) : DeviceBuffer(host.size()) { upload(host); }

  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        scratch_(std::move(other.scratch_)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(scratch_, other.scratch_);
    return *this;
  }
  ~DeviceBuffer() {
    if (scratch_) {
      if (data_ != nullptr) scratch_->give(data_);
    } else if (data_ != nullptr) {
      cudaFree(data_);
      held_device_bytes -= size_ * sizeof(T);
    }
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Copies size() elements from or to the host; waits until that is done. Arrays that grow with
  /// the graph go through TransferRing, which is several times faster.
  void upload(std::span<const T> host) {
    if (size_ == 0) return;
    PAGERANK_CUDA(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    // It may return while the last piece is still on its way, and the engine's stream does not wait
    // for the default one.
    PAGERANK_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  }
  [[nodiscard]] std::vector<T> download() const { return download(size_); }
  /// The first so many.
  [[nodiscard]] std::vector<T> download(std::size_t count) const {
    std::vector<T> host(count);
    if (count == 0) return host;
    PAGERANK_CUDA(cudaMemcpy(host.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

  void set_to_zero(cudaStream_t stream) {
    if (size_ == 0) return;
    PAGERANK_CUDA(cudaMemsetAsync(data_, 0, size_ * sizeof(T), stream));
  }

 private:
  void allocated(cudaError_t error) {
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky: clear it
      std::size_t available = 0, total = 0;
      cudaMemGetInfo(&available, &total);
      throw OutOfMemory("the GPU", size_ * sizeof(T), available);
    }
    PAGERANK_CUDA(error);
    held_device_bytes += size_ * sizeof(T);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<ScratchMemory> scratch_;  ///< Where it comes from; unset: from the device.
};

}  // namespace pagerank::gpu
