#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "gpu/cuda_handles.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// Copies large arrays between host and device through a small ring of page-locked buffers, a pair
/// for each of several threads: while one buffer of a pair travels, its thread fills or empties the
/// other, converting the elements on the way. All travel in one stream: in as many as there are
/// threads, each buffer would wait some microseconds for its turn. Page-locked memory travels
/// several times faster than other memory, but page-locking a whole graph would take longer than
/// that saves. (Where the system locks no pages the buffers are ordinary memory.)
class TransferRing {
 public:
  /// An array that is to be copied, in pieces that several threads take.
  struct Shipment {
    struct Load {
      void* to;  ///< On the device.
      std::size_t bytes;
    };
    std::size_t pieces, buffer_bytes;
    /// Fills a buffer with what is to travel of a piece.
    std::function<Load(std::size_t piece, std::byte* buffer)> load = {};
    std::function<void(std::size_t piece)> arrived = {};
    /// Pieces from this one on are not loaded before wait() has returned, which only one of those
    /// that are sent together may have. What it waits for is told of a failure, too.
    std::size_t first_to_wait = std::numeric_limits<std::size_t>::max();
    std::function<void()> wait = {};
    std::function<void(const std::exception_ptr&)> failed = {};
  };

  /// `threads`: 0 for as many as OpenMP offers. Buffers are made when the first array that is
  /// worth it comes. The process keeps their memory, which takes milliseconds to be page-locked (up
  /// to 4 MiB a thread, of 12 at most), and the threads for the next ring, those of the ring that
  /// has most of them. For one caller at a time, whatever thread that is.
  explicit TransferRing(int threads = 0);
  TransferRing(const TransferRing&) = delete;
  TransferRing& operator=(const TransferRing&) = delete;
  ~TransferRing();

  /// So many bytes are about to be copied, in several arrays: buffers are made for all of them, and
  /// also used for those that would not be worth the ring by themselves.
  void expect(std::size_t bytes);

  /// Told of elements [begin, end) that are on the device, by several threads.
  using Arrived = std::function<void(std::size_t begin, std::size_t end)>;

  /// Writes to[i] of from[i] for all of a piece.
  template <class To, class From>
  using Convert = void (*)(std::span<const From> from, To* to);

  /// to[i] = To(from[i]) for all of `from`, or as `convert` makes it, to the device; the data has
  /// arrived when this returns, the first elements about first. Instantiated for the pairs of types
  /// that graphs are made of (see transfer_ring.cu).
  template <class To, class From>
  void copy(std::span<const From> from, To* to, const Arrived& arrived = {},
            Convert<To, From> convert = nullptr);

  /// Whether an array of so many bytes goes through the ring: it is not worth it for all.
  [[nodiscard]] bool worth_it(std::size_t bytes) const;

  /// The same of an array that is worth it, to be sent; in pieces of so many bytes, 0 for what
  /// suits the array alone. Pieces of several arrays wait for each other: whose are smaller has
  /// less of the bus.
  template <class To, class From>
  [[nodiscard]] Shipment shipment(std::span<const From> from, To* to, Arrived arrived = {},
                                  Convert<To, From> convert = nullptr,
                                  std::size_t bytes_of_piece = 0) const;

  /// Copies several arrays side by side: half of the threads begin with the first of them, the
  /// others with the last. What takes the host long, for it is converted, then travels beside what
  /// waits for the bus.
  void send(std::span<const Shipment> shipments);

  /// to[i] = from[i] for all of `to`, from the device, of which all earlier work on `from` is done.
  void fetch(const double* from, std::span<double> to);

  /// Has the system give the pages of an array that nobody has touched yet, huge ones if it can, by
  /// all threads: a copy that meets them one by one takes several times longer.
  void touch(std::span<double> array);

  template <class To, class From>
  [[nodiscard]] DeviceBuffer<To> upload(std::span<const From> from) {
    DeviceBuffer<To> buffer(from.size());
    copy(from, buffer.data());
    return buffer;
  }

 private:
  class Lane;
  class Shipping;

  /// What an array of so many bytes is copied in: enough pieces for all lanes to take part.
  [[nodiscard]] std::size_t piece_bytes(std::size_t bytes) const;

  /// Has up to `most` lanes run body(lane), several threads at once. Buffers hold so many bytes.
  /// Who fails in a lane tells `failed` before this throws it, which it does when all have ended.
  template <class Body>
  void run_lanes(std::size_t most, std::size_t buffer_bytes, const Body& body,
                 const std::function<void(const std::exception_ptr&)>& failed = {});

  struct Crew;
  [[nodiscard]] Crew& crew();

  int threads_;
  std::unique_ptr<Crew> crew_;  ///< Null until it is needed.
  bool ready_;                  ///< There are buffers, here or to be had, or they are worth making.
  std::size_t expected_ = 0;    ///< Bytes.
};

}  // namespace pagerank::gpu
