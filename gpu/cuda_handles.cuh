#pragma once

#include <memory>
#include <type_traits>

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

/// One T in page-locked host memory, where asynchronous copies from the device may land.
template <class T>
class PinnedValue {
 public:
  PinnedValue() {
    PAGERANK_CUDA(
        cudaHostAlloc(reinterpret_cast<void**>(&value_), sizeof(T), cudaHostAllocDefault));
  }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;
  ~PinnedValue() { cudaFreeHost(value_); }

  [[nodiscard]] T* get() { return value_; }
  [[nodiscard]] T& operator*() { return *value_; }

 private:
  T* value_ = nullptr;
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
