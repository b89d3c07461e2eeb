#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gpu/cuda_handles.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// Copies host arrays to the device through a small ring of page-locked buffers, a pair for each of
/// several threads: while one buffer of a pair travels, its thread fills the other, converting the
/// elements on the way. Page-locked memory travels several times faster than other memory, but
/// page-locking (or copying into page-locked memory of) a whole graph would take longer than that
/// saves.
class UploadRing {
 public:
  /// `threads`: 0 for as many as OpenMP offers. Buffers are allocated when the first array that is
  /// worth it comes.
  explicit UploadRing(int threads = 0);
  UploadRing(const UploadRing&) = delete;
  UploadRing& operator=(const UploadRing&) = delete;
  ~UploadRing();

  /// to[i] = To(from[i]) for all of `from`; the data has arrived when this returns.
  /// Instantiated for the pairs of types that graphs are made of (see upload_ring.cu).
  template <class To, class From>
  void copy(std::span<const From> from, To* to);

  template <class To, class From>
  [[nodiscard]] DeviceBuffer<To> upload(std::span<const From> from) {
    DeviceBuffer<To> buffer(from.size());
    copy(from, buffer.data());
    return buffer;
  }

 private:
  struct Lane;
  void allocate_lanes();

  int threads_;
  int device_ = 0;
  PinnedArray<std::byte> buffers_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace pagerank::gpu
