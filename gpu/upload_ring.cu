#include "gpu/upload_ring.cuh"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "core/parallel.hpp"
#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
/// More threads than this wait for the bus.
constexpr int most_threads = 12;
/// Allocating the ring takes longer than copying less than this from ordinary memory.
constexpr std::size_t least_bytes = std::size_t{64} << 20;

template <class To, class From>
void convert(std::span<const From> from, To* to) {
  std::transform(from.begin(), from.end(), to,
                 [](From element) { return static_cast<To>(element); });
}

template <class To, class From>
void copy_from_ordinary_memory(std::span<const From> from, To* to) {
  if constexpr (std::is_same_v<To, From>) {
    PAGERANK_CUDA(cudaMemcpy(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
    // It may return while the last piece is still on its way, and the engine's stream does not wait
    // for the default one.
    PAGERANK_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  } else {
    std::vector<To> converted(from.size());
    convert(from, converted.data());
    copy_from_ordinary_memory(std::span<const To>(converted), to);
  }
}

}  // namespace

/// A thread's pair of buffers and its stream.
struct UploadRing::Lane {
  struct Buffer {
    std::byte* bytes = nullptr;
    Event free;  ///< Comes when the buffer's last copy has been made.
  };
  Stream stream;
  std::array<Buffer, 2> buffers;
};

UploadRing::UploadRing(int threads) : threads_(std::min(thread_count(threads), most_threads)) {}
UploadRing::~UploadRing() = default;

void UploadRing::allocate_lanes() {
  if (!lanes_.empty()) return;
  PAGERANK_CUDA(cudaGetDevice(&device_));
  std::vector<std::unique_ptr<Lane>> lanes;
  const auto threads = static_cast<std::size_t>(threads_);
  buffers_ =
      PinnedArray<std::byte>(threads * std::tuple_size_v<decltype(Lane::buffers)> * buffer_bytes);
  std::byte* next = buffers_.data();
  for (std::size_t i = 0; i < threads; ++i) {
    lanes.push_back(std::make_unique<Lane>());
    for (Lane::Buffer& buffer : lanes.back()->buffers) {
      buffer.bytes = std::exchange(next, next + buffer_bytes);
    }
  }
  lanes_ = std::move(lanes);
}

template <class To, class From>
void UploadRing::copy(std::span<const From> from, To* to) {
  if (from.empty()) return;
  if (from.size() * sizeof(To) < least_bytes) {
    copy_from_ordinary_memory(from, to);
    return;
  }
  allocate_lanes();
  constexpr std::size_t piece = buffer_bytes / sizeof(To);
  const std::size_t pieces = (from.size() + piece - 1) / piece;
  std::atomic<std::size_t> next_piece = 0;
  parallel_for(lanes_.size(), threads_, [&](std::size_t lane_index) {
    PAGERANK_CUDA(cudaSetDevice(device_));
    Lane& lane = *lanes_[lane_index];
    for (std::size_t turn = 0;; ++turn) {
      const std::size_t begin = next_piece++ * piece;
      if (begin >= from.size()) break;
      const auto source = from.subspan(begin, std::min(piece, from.size() - begin));
      Lane::Buffer& buffer = lane.buffers[turn % lane.buffers.size()];
      buffer.free.wait();
      auto* const filled = reinterpret_cast<To*>(buffer.bytes);
      convert(source, filled);
      PAGERANK_CUDA(cudaMemcpyAsync(to + begin, filled, source.size() * sizeof(To),
                                    cudaMemcpyHostToDevice, lane.stream));
      buffer.free.record(lane.stream);
    }
    lane.stream.wait();
  });
}

template void UploadRing::copy(std::span<const NodeId>, NodeId*);
template void UploadRing::copy(std::span<const EdgeIndex>, EdgeIndex*);
template void UploadRing::copy(std::span<const double>, double*);
template void UploadRing::copy(std::span<const double>, float*);

}  // namespace pagerank::gpu
