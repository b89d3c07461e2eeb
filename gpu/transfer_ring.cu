#include "gpu/transfer_ring.cuh"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "core/parallel.hpp"
#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{2} << 20;
/// More threads than this wait for the bus.
constexpr int most_threads = 8;
/// Making the first ring takes longer than copying less than this from ordinary memory.
constexpr std::size_t least_bytes = std::size_t{64} << 20;
/// What goes through a ring that is there already.
constexpr std::size_t least_bytes_of_ready_ring = std::size_t{4} << 20;

template <class To, class From>
void convert_elements(std::span<const From> from, To* to) {
  if constexpr (std::is_same_v<To, From>) {
    std::copy(from.begin(), from.end(), to);  // the library's copy knows the machine
  } else {
    std::transform(from.begin(), from.end(), to,
                   [](From element) { return static_cast<To>(element); });
  }
}

template <class T>
void copy_from_ordinary_memory(std::span<const T> from, T* to) {
  PAGERANK_CUDA(cudaMemcpy(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
  // It may return while the last piece is still on its way, and the engine's stream does not wait
  // for the default one.
  PAGERANK_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
}

}  // namespace

/// A thread's pair of buffers.
class TransferRing::Lane {
 public:
  Lane(std::byte* memory, cudaStream_t stream) : memory_(memory), stream_(stream) {}

  /// The buffer whose turn it is, its last copy made.
  [[nodiscard]] std::byte* take(std::size_t turn) {
    travelled_[turn % 2].wait();
    return memory_ + turn % 2 * buffer_bytes;
  }
  void copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                  std::size_t turn) {
    PAGERANK_CUDA(cudaMemcpyAsync(to, from, bytes, kind, stream_));
    travelled_[turn % 2].record(stream_);
  }
  /// Until both buffers' copies are made.
  void wait() const {
    for (const Event& event : travelled_) event.wait();
  }

 private:
  std::byte* memory_;
  cudaStream_t stream_;
  std::array<Event, 2> travelled_{Event(cudaEventDisableTiming), Event(cudaEventDisableTiming)};
};

namespace {

/// Memory of the buffers of so many threads.
struct RingMemory {
  explicit RingMemory(int of_threads)
      : threads(of_threads), bytes(static_cast<std::size_t>(threads) * 2 * buffer_bytes, threads) {}
  int threads;
  PinnedArray<std::byte> bytes;
};

/// The memory of a ring that is gone.
class SpareMemory {
 public:
  [[nodiscard]] std::unique_ptr<RingMemory> take(int threads) {
    const std::scoped_lock lock(mutex_);
    if (memory_ && memory_->threads >= threads) return std::move(memory_);
    return std::make_unique<RingMemory>(threads);
  }
  [[nodiscard]] bool suffices(int threads) {
    const std::scoped_lock lock(mutex_);
    return memory_ && memory_->threads >= threads;
  }
  void give(std::unique_ptr<RingMemory> memory) {
    const std::scoped_lock lock(mutex_);
    if (!memory_ || memory_->threads < memory->threads) memory_ = std::move(memory);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<RingMemory> memory_;
};

SpareMemory& spare_memory() {
  // Never destroyed: when the process ends CUDA may be gone before it.
  static auto* const memory = new SpareMemory;
  return *memory;
}

}  // namespace

/// The lanes, and what they share.
struct TransferRing::Buffers {
  explicit Buffers(int threads)
      : memory(spare_memory().take(threads)), lanes(static_cast<std::size_t>(threads)) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = std::make_unique<Lane>(memory->bytes.data() + lane * 2 * buffer_bytes, stream);
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    cudaStreamSynchronize(stream);  // what failed may have left copies on their way
    spare_memory().give(std::move(memory));
  }

  std::unique_ptr<RingMemory> memory;
  Stream stream;
  std::vector<std::unique_ptr<Lane>> lanes;
};

TransferRing::TransferRing(int threads)
    : threads_(std::min(thread_count(threads), most_threads)),
      ready_(spare_memory().suffices(threads_)) {}
TransferRing::~TransferRing() = default;

bool TransferRing::worth_it(std::size_t bytes) const {
  return bytes >= (ready_ ? least_bytes_of_ready_ring : least_bytes);
}

void TransferRing::expect(std::size_t bytes) {
  ready_ = ready_ || worth_it(bytes);
}

template <class Body>
void TransferRing::run_lanes(std::size_t pieces, const Body& body) {
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  if (!buffers_) buffers_ = std::make_unique<Buffers>(threads_);
  std::atomic<std::size_t> next_piece = 0;
  parallel_for(buffers_->lanes.size(), threads_, [&](std::size_t index) {
    PAGERANK_CUDA(cudaSetDevice(device));
    body(*buffers_->lanes[index], [&] { return std::min(next_piece++, pieces); });
  });
  ready_ = true;
}

template <class To, class From>
void TransferRing::copy(std::span<const From> from, To* to, const Arrived& arrived,
                        Convert<To, From> convert) {
  if (from.empty()) return;
  const bool as_it_is = std::is_same_v<To, From> && convert == nullptr;
  if (convert == nullptr) convert = convert_elements<To, From>;
  if (!worth_it(from.size() * sizeof(To))) {
    std::vector<To> converted(as_it_is ? 0 : from.size());
    if (!as_it_is) convert(from, converted.data());
    const auto* const data = as_it_is ? reinterpret_cast<const To*>(from.data()) : converted.data();
    copy_from_ordinary_memory(std::span<const To>(data, from.size()), to);
    if (arrived) arrived(0, from.size());
    return;
  }
  constexpr std::size_t piece = buffer_bytes / sizeof(To);
  const std::size_t pieces = (from.size() + piece - 1) / piece;
  run_lanes(pieces, [&](Lane& lane, const auto& next) {
    std::array<std::span<const From>, 2> sources;  // of the buffers that are under way
    const auto has_arrived = [&](std::size_t turn) {
      std::span<const From>& source = sources[turn % 2];
      if (source.empty()) return;
      const auto begin = static_cast<std::size_t>(source.data() - from.data());
      if (arrived) arrived(begin, begin + source.size());
      source = {};
    };
    std::size_t turn = 0;
    for (std::size_t p = next(); p < pieces; p = next(), ++turn) {
      const std::size_t begin = p * piece;
      auto* const buffer = reinterpret_cast<To*>(lane.take(turn));
      has_arrived(turn);
      std::span<const From>& source = sources[turn % 2];
      source = from.subspan(begin, std::min(piece, from.size() - begin));
      convert(source, buffer);
      lane.copy_async(to + begin, buffer, source.size() * sizeof(To), cudaMemcpyHostToDevice, turn);
    }
    lane.wait();
    has_arrived(turn);
    has_arrived(turn + 1);
  });
}

void TransferRing::fetch(const double* from, std::span<double> to) {
  if (!worth_it(to.size_bytes())) {
    PAGERANK_CUDA(cudaMemcpy(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost));
    return;
  }
  constexpr std::size_t piece = buffer_bytes / sizeof(double);
  const std::size_t pieces = (to.size() + piece - 1) / piece;
  run_lanes(pieces, [&](Lane& lane, const auto& next) {
    std::array<std::span<double>, 2> targets;  // of the buffers that are under way
    const auto empty = [&](std::size_t turn) {
      const auto* const buffer = reinterpret_cast<const double*>(lane.take(turn));
      std::span<double>& target = targets[turn % 2];
      std::copy_n(buffer, target.size(), target.begin());
      target = {};
    };
    std::size_t turn = 0;
    for (std::size_t p = next(); p < pieces; p = next(), ++turn) {
      empty(turn);
      const std::size_t begin = p * piece;
      std::span<double>& target = targets[turn % 2];
      target = to.subspan(begin, std::min(piece, to.size() - begin));
      lane.copy_async(lane.take(turn), from + begin, target.size_bytes(), cudaMemcpyDeviceToHost,
                      turn);
    }
    empty(turn);
    empty(turn + 1);
  });
}

template void TransferRing::copy(std::span<const NodeId>, NodeId*, const Arrived&,
                                 Convert<NodeId, NodeId>);
template void TransferRing::copy(std::span<const EdgeIndex>, EdgeIndex*, const Arrived&,
                                 Convert<EdgeIndex, EdgeIndex>);
template void TransferRing::copy(std::span<const EdgeIndex>, std::uint32_t*, const Arrived&,
                                 Convert<std::uint32_t, EdgeIndex>);
template void TransferRing::copy(std::span<const double>, double*, const Arrived&,
                                 Convert<double, double>);
template void TransferRing::copy(std::span<const double>, float*, const Arrived&,
                                 Convert<float, double>);
template void TransferRing::copy(std::span<const double>, std::uint32_t*, const Arrived&,
                                 Convert<std::uint32_t, double>);

}  // namespace pagerank::gpu
