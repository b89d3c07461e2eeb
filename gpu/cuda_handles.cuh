#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// A stream of its own for an engine: does not wait for work on the default stream.
class Stream {
 public:
  Stream() { PAGERANK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  [[nodiscard]] operator cudaStream_t() const { return stream_; }
  void wait() const { PAGERANK_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in a stream's work.
class Event {
 public:
  Event() { PAGERANK_CUDA(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { PAGERANK_CUDA(cudaEventRecord(event_, stream)); }
  /// Returns at once if it was never recorded.
  void wait() const { PAGERANK_CUDA(cudaEventSynchronize(event_)); }
  /// Device time between the two, both reached.
  [[nodiscard]] double seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    PAGERANK_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds / 1e3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// An array in page-locked host memory, which asynchronous copies to and from the device take.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t size) {
    PAGERANK_CUDA(
        cudaHostAlloc(reinterpret_cast<void**>(&data_), size * sizeof(T), cudaHostAllocDefault));
  }
  PinnedArray(PinnedArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~PinnedArray() { cudaFreeHost(data_); }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
};

/// Owners of opaque objects, each with the call that ends it.
template <class Handle, auto destroy>
struct HandleDestroy {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { destroy(handle); }
};
template <class Handle, auto destroy>
using HandleOwner = std::unique_ptr<std::remove_pointer_t<Handle>, HandleDestroy<Handle, destroy>>;

using CudaGraph = HandleOwner<cudaGraph_t, cudaGraphDestroy>;
using CudaGraphExec = HandleOwner<cudaGraphExec_t, cudaGraphExecDestroy>;

using CusparseHandle = HandleOwner<cusparseHandle_t, cusparseDestroy>;
using CusparseMatrix = HandleOwner<cusparseConstSpMatDescr_t, cusparseDestroySpMat>;
using CusparseVector = HandleOwner<cusparseDnVecDescr_t, cusparseDestroyDnVec>;
using CusparseConstVector = HandleOwner<cusparseConstDnVecDescr_t, cusparseDestroyDnVec>;

}  // namespace pagerank::gpu
