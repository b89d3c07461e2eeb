#include "gpu/transfer_ring.cuh"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "core/thread_team.hpp"
#include "gpu/cuda_handles.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/process.hpp"

namespace pagerank::gpu {
namespace {

/// What travels at once: calls of the driver take longer than less, and with more a thread has
/// nothing to do for long at the beginning and the end.
constexpr std::size_t least_piece = std::size_t{256} << 10, most_piece = std::size_t{2} << 20;
/// More threads than this wait for the bus, even while they convert what a graph has of each node.
constexpr int most_threads = 12;
/// Making the first ring takes longer than copying less than this from ordinary memory.
constexpr std::size_t least_bytes = std::size_t{8} << 20;
/// What goes through a ring that is there already.
constexpr std::size_t least_bytes_of_ready_ring = std::size_t{1} << 20;

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
  Lane(std::size_t number, std::byte* memory, std::size_t buffer_bytes, cudaStream_t stream)
      : number_(number), memory_(memory), buffer_bytes_(buffer_bytes), stream_(stream) {}

  [[nodiscard]] std::size_t number() const { return number_; }

  /// The buffer whose turn it is, its last copy made.
  [[nodiscard]] std::byte* take(std::size_t turn) {
    travelled_[turn % 2].wait();
    return memory_ + turn % 2 * buffer_bytes_;
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
  std::size_t number_;
  std::byte* memory_;
  std::size_t buffer_bytes_;
  cudaStream_t stream_;
  std::array<Event, 2> travelled_{Event(cudaEventDisableTiming), Event(cudaEventDisableTiming)};
};

namespace {

/// What a process keeps of a ring for the next: so many threads, which a loop of OpenMP would start
/// anew in every thread that begins one, and end with it, and their page-locked buffers.
struct RingParts {
  explicit RingParts(int of_threads) : threads(of_threads), team(of_threads) {}
  /// Of at least so many bytes each.
  void lock_buffers(std::size_t bytes) {
    if (buffer_bytes >= bytes) return;
    buffer_bytes = 0;  // there may be no memory
    buffers = {};
    buffers = PinnedArray<std::byte>(static_cast<std::size_t>(threads) * 2 * bytes, threads,
                                     PageLock::Need::wished);
    buffer_bytes = bytes;
  }
  int threads;
  ThreadTeam team;
  std::size_t buffer_bytes = 0;  ///< 0 until there are any.
  PinnedArray<std::byte> buffers;
};

/// The parts of a ring that is gone.
class SpareParts {
 public:
  [[nodiscard]] std::unique_ptr<RingParts> take(int threads) {
    const std::scoped_lock lock(mutex_);
    if (parts_ && parts_->threads >= threads) return std::move(parts_);
    return std::make_unique<RingParts>(threads);
  }
  /// Whether take() would give buffers, too.
  [[nodiscard]] bool have_buffers(int threads) {
    const std::scoped_lock lock(mutex_);
    return parts_ && parts_->threads >= threads && parts_->buffer_bytes > 0;
  }
  void give(std::unique_ptr<RingParts> parts) {
    const std::scoped_lock lock(mutex_);
    const auto worth = [](const RingParts& of) { return std::pair(of.threads, of.buffer_bytes); };
    if (!parts_ || worth(*parts_) < worth(*parts)) std::swap(parts_, parts);
  }
  void free() {
    const std::scoped_lock lock(mutex_);
    parts_.reset();
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<RingParts> parts_;
};

SpareParts& spare_parts() {
  // Never destroyed: when the process ends CUDA may be gone before it.
  static auto* const parts = new SpareParts;
  return *parts;
}

}  // namespace

void release_kept_memory() {
  spare_parts().free();
}

/// The threads, and from the first copy on their lanes.
struct TransferRing::Crew {
  explicit Crew(int threads) : parts(spare_parts().take(threads)), size(threads) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    if (stream) cudaStreamSynchronize(*stream);  // what failed may have left copies on their way
    spare_parts().give(std::move(parts));
  }
  /// With buffers of at least so many bytes.
  void make_lanes(std::size_t bytes) {
    if (!lanes.empty() && parts->buffer_bytes >= bytes) return;
    if (stream) stream->wait();
    lanes.clear();
    parts->lock_buffers(bytes);
    if (!stream) stream.emplace();
    const std::size_t each = parts->buffer_bytes;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(size); ++lane) {
      std::byte* const memory = parts->buffers.data() + lane * 2 * each;
      lanes.push_back(std::make_unique<Lane>(lane, memory, each, *stream));
    }
  }

  std::unique_ptr<RingParts> parts;
  int size;
  std::optional<Stream> stream;
  std::vector<std::unique_ptr<Lane>> lanes;
};

TransferRing::TransferRing(int threads)
    : threads_(std::min(thread_count(threads), most_threads)),
      ready_(spare_parts().have_buffers(threads_)) {}
TransferRing::~TransferRing() = default;

bool TransferRing::worth_it(std::size_t bytes) const {
  return bytes >= (ready_ ? least_bytes_of_ready_ring : least_bytes);
}

void TransferRing::expect(std::size_t bytes) {
  expected_ = std::max(expected_, bytes);
  if (!worth_it(bytes)) return;
  ready_ = true;
  // By this thread, not by one that is begun for the upload: see RingParts.
  crew().make_lanes(piece_bytes(expected_));
}

TransferRing::Crew& TransferRing::crew() {
  if (!crew_) crew_ = std::make_unique<Crew>(threads_);
  return *crew_;
}

std::size_t TransferRing::piece_bytes(std::size_t bytes) const {
  constexpr std::size_t turns_of_lane = 4;
  const std::size_t each = bytes / (turns_of_lane * static_cast<std::size_t>(threads_));
  return std::clamp(each / least_piece * least_piece, least_piece, most_piece);
}

template <class Body>
void TransferRing::run_lanes(std::size_t most, std::size_t buffer_bytes, const Body& body,
                             const std::function<void(const std::exception_ptr&)>& failed) {
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  crew().make_lanes(std::max(buffer_bytes, piece_bytes(expected_)));
  crew().parts->team.for_each(std::min(crew().lanes.size(), most), [&](std::size_t index) {
    try {
      PAGERANK_CUDA(cudaSetDevice(device));
      body(*crew().lanes[index]);
    } catch (...) {
      if (failed) failed(std::current_exception());
      throw;
    }
  });
  ready_ = true;
}

void TransferRing::touch(std::span<double> array) {
  advise_huge_pages(array);
  constexpr std::size_t page = 4096 / sizeof(double), piece = 256 * page;
  const std::size_t pieces = (array.size() + piece - 1) / piece;
  std::atomic<std::size_t> next_piece = 0;
  const auto threads = static_cast<std::size_t>(threads_);  // the team may have more
  crew().parts->team.for_each(std::min(threads, pieces), [&](std::size_t) {
    for (std::size_t p = 0; (p = next_piece++) < pieces;) {
      const std::size_t end = std::min(array.size(), (p + 1) * piece);
      for (std::size_t i = p * piece; i < end; i += page) array[i] = 0;
    }
  });
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
  const Shipment all = shipment(from, to, arrived, convert);
  send(std::span(&all, 1));
}

template <class To, class From>
TransferRing::Shipment TransferRing::shipment(std::span<const From> from, To* to, Arrived arrived,
                                              Convert<To, From> convert,
                                              std::size_t bytes_of_piece) const {
  if (convert == nullptr) convert = convert_elements<To, From>;
  const std::size_t bytes =
      bytes_of_piece > 0 ? bytes_of_piece : piece_bytes(from.size() * sizeof(To));
  const std::size_t piece = bytes / sizeof(To);
  const auto source = [from, piece](std::size_t p) {
    return from.subspan(p * piece, std::min(piece, from.size() - p * piece));
  };
  Shipment all{.pieces = (from.size() + piece - 1) / piece, .buffer_bytes = bytes};
  all.load = [=](std::size_t p, std::byte* buffer) -> Shipment::Load {
    convert(source(p), reinterpret_cast<To*>(buffer));
    return {to + p * piece, source(p).size() * sizeof(To)};
  };
  if (arrived) {
    all.arrived = [=](std::size_t p) { arrived(p * piece, p * piece + source(p).size()); };
  }
  return all;
}

/// What lanes take their pieces from.
class TransferRing::Shipping {
 public:
  explicit Shipping(std::span<const Shipment> shipments)
      : shipments_(shipments), taken_(shipments.size()) {}

  /// All pieces that are left, of a lane's own choice of shipments first.
  void carry(Lane& lane) {
    std::array<Piece, 2> under_way;  // in the buffers
    const auto has_arrived = [&](std::size_t turn) {
      const Piece piece = std::exchange(under_way[turn % 2], {});
      if (piece.of != nullptr && piece.of->arrived) piece.of->arrived(piece.number);
    };
    std::size_t turn = 0;
    const auto settle = [&] {
      lane.wait();
      has_arrived(turn);
      has_arrived(turn + 1);
    };
    bool waited = false;
    for (Piece piece = next(lane); piece.of != nullptr; piece = next(lane), ++turn) {
      if (piece.number >= piece.of->first_to_wait && !std::exchange(waited, true)) {
        settle();  // it may be what that waits for
        piece.of->wait();
      }
      std::byte* const buffer = lane.take(turn);
      has_arrived(turn);
      const Shipment::Load load = piece.of->load(piece.number, buffer);
      if (fails_now(Failure::upload)) throw CudaError("an upload is to fail");
      under_way[turn % 2] = piece;
      lane.copy_async(load.to, buffer, load.bytes, cudaMemcpyHostToDevice, turn);
    }
    settle();
  }

  /// Or who waits for what a lane carried would wait for ever.
  void failed(const std::exception_ptr& error) const {
    for (const Shipment& one : shipments_) {
      if (one.failed) one.failed(error);
    }
  }

 private:
  struct Piece {
    const Shipment* of = nullptr;  ///< Null: none is left.
    std::size_t number = 0;
  };
  [[nodiscard]] Piece next(const Lane& lane) {
    for (std::size_t i = 0; i < shipments_.size(); ++i) {
      const std::size_t s = lane.number() % 2 == 0 ? i : shipments_.size() - 1 - i;
      const std::size_t piece = taken_[s]++;
      if (piece < shipments_[s].pieces) return {&shipments_[s], piece};
    }
    return {};
  }

  std::span<const Shipment> shipments_;
  std::vector<std::atomic<std::size_t>> taken_;
};

void TransferRing::send(std::span<const Shipment> shipments) {
  std::size_t pieces = 0, bytes = 0;
  for (const Shipment& one : shipments) {
    pieces += one.pieces;
    bytes = std::max(bytes, one.buffer_bytes);
  }
  Shipping shipping(shipments);
  run_lanes(
      pieces, bytes, [&](Lane& lane) { shipping.carry(lane); },
      [&](const std::exception_ptr& error) { shipping.failed(error); });
}

void TransferRing::fetch(const double* from, std::span<double> to) {
  if (!worth_it(to.size_bytes())) {
    PAGERANK_CUDA(cudaMemcpy(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost));
    return;
  }
  const std::size_t size = piece_bytes(to.size_bytes()), piece = size / sizeof(double);
  const std::size_t pieces = (to.size() + piece - 1) / piece;
  std::atomic<std::size_t> taken = 0;
  run_lanes(pieces, size, [&](Lane& lane) {
    std::array<std::span<double>, 2> targets;  // of the buffers that are under way
    const auto empty = [&](std::size_t turn) {
      const auto* const buffer = reinterpret_cast<const double*>(lane.take(turn));
      std::span<double>& target = targets[turn % 2];
      std::copy_n(buffer, target.size(), target.begin());
      target = {};
    };
    std::size_t turn = 0;
    for (std::size_t p = taken++; p < pieces; p = taken++, ++turn) {
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

#define PAGERANK_COPY(From, To)                                                                    \
  template void TransferRing::copy(std::span<const From>, To*, const Arrived&, Convert<To, From>); \
  template TransferRing::Shipment TransferRing::shipment(std::span<const From>, To*, Arrived,      \
                                                         Convert<To, From>, std::size_t) const
PAGERANK_COPY(NodeId, NodeId);
PAGERANK_COPY(EdgeIndex, EdgeIndex);
PAGERANK_COPY(EdgeIndex, std::uint32_t);
PAGERANK_COPY(double, double);
PAGERANK_COPY(double, float);
PAGERANK_COPY(double, std::uint32_t);
#undef PAGERANK_COPY

}  // namespace pagerank::gpu
