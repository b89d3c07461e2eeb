#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/page_lock.hpp"

namespace pagerank::gpu {

/// A stream of its own for an engine: does not wait for work on the default stream.
class Stream {
 public:
  enum class Priority { usual, early, first };  ///< Of the blocks of kernels that may begin.
  explicit Stream(Priority priority = Priority::usual) {
    int least = 0, greatest = 0;
    PAGERANK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    const int early = greatest + 1 < least ? greatest + 1 : greatest;  // the lower, the earlier
    const int of[] = {least, early, greatest};
    PAGERANK_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                               of[static_cast<int>(priority)]));
  }
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
  Event() : Event(cudaEventDefault) {}
  /// `flags` as of cudaEventCreateWithFlags().
  explicit Event(unsigned flags) { PAGERANK_CUDA(cudaEventCreateWithFlags(&event_, flags)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { PAGERANK_CUDA(cudaEventRecord(event_, stream)); }
  /// What is queued into the stream from now on waits for it.
  void hold_back(cudaStream_t stream) const {
    PAGERANK_CUDA(cudaStreamWaitEvent(stream, event_, 0));
  }
  /// Returns at once if it was never recorded.
  void wait() const { PAGERANK_CUDA(cudaEventSynchronize(event_)); }
  /// Whether wait() would return at once.
  [[nodiscard]] bool reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // no error, but kept as if it were one: clear it
      return false;
    }
    PAGERANK_CUDA(state);
    return true;
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }
  /// Device time between the two, both reached.
  [[nodiscard]] double seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    PAGERANK_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds / 1e3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// An array in host memory that is page-locked (see PageLock), which asynchronous copies to and
/// from the device take; its elements start as zeros. Ordinary memory, touched and then locked:
/// that takes a fifth of the time of cudaHostAlloc(), and where pages are huge less than that
/// (docs/notebook/gpu.md).
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  /// Touched by so many threads.
  explicit PinnedArray(std::size_t size, int threads = 1,
                       PageLock::Need need = PageLock::Need::required)
      : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = (size * sizeof(T) + page - 1) / page * page;  // pages of its own
    const std::align_val_t alignment{bytes < huge_page ? page : huge_page};
    data_ = {static_cast<T*>(::operator new(bytes, alignment)), Free{alignment}};
    const std::span memory(reinterpret_cast<std::byte*>(data_.get()), bytes);
    advise_huge_pages(memory);
    parallel_for((bytes + huge_page - 1) / huge_page, threads, [&](std::size_t p) {
      std::memset(memory.data() + p * huge_page, 0, std::min(huge_page, bytes - p * huge_page));
    });
    lock_ = PageLock(memory, need);
  }

  PinnedArray(PinnedArray&& other) noexcept { swap(other); }
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_.get()[i]; }
  /// Where kernels find it.
  [[nodiscard]] T* on_device() {
    void* data = nullptr;
    PAGERANK_CUDA(cudaHostGetDevicePointer(&data, data_.get(), 0));
    return static_cast<T*>(data);
  }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;
  struct Free {
    std::align_val_t alignment{page};
    void operator()(T* data) const noexcept { ::operator delete(data, alignment); }
  };
  void swap(PinnedArray& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    std::swap(lock_, other.lock_);
  }
  std::size_t size_ = 0;
  std::unique_ptr<T, Free> data_;
  PageLock lock_;  ///< Of data_, which outlives it.
};

/// Page-locked memory for little that host and device exchange where copies would wait behind
/// others. Locking waits for what the device does. For one thread.
class ExchangeMemory {
 public:
  void reserve(std::size_t bytes) {
    if (bytes_.size() < bytes) bytes_ = PinnedArray<std::byte>(std::max(usual, bytes));
  }
  [[nodiscard]] std::byte* on_host() { return bytes_.data(); }
  [[nodiscard]] std::byte* on_device() { return bytes_.on_device(); }

 private:
  static constexpr std::size_t usual = std::size_t{1} << 18;
  PinnedArray<std::byte> bytes_;
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

}  // namespace pagerank::gpu
