#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>

namespace pagerank::io {

/// Reads a stream in a thread of its own, some pieces ahead of who takes its bytes: what is slow to
/// come, decompressed text for instance, comes while others work on what came before.
class ReadAhead {
 public:
  /// Bytes of a piece, and how many of them lie ready at most.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;
  static constexpr std::size_t most_pieces = 8;

  /// Gives the next bytes of the stream, as many as fit unless an error or the end follows them; 0
  /// at the end. It is not called again after that, or once it has thrown.
  using Read = std::function<std::size_t(std::span<char>)>;

  /// `may_wait`: reading takes as long as somebody else likes, as from a pipe. Throws
  /// std::system_error if there are no more threads.
  ReadAhead(Read read, bool may_wait);

  /// Ends the reading, but does not wait for bytes that may never come: the thread then keeps what
  /// `read` holds until they do.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Fills `buffer` with what comes next; fewer bytes than fit only at the end of the stream, and
  /// in front of what `read` threw. Throws that once it comes to it, however often it is called.
  [[nodiscard]] std::size_t read(std::span<char> buffer);

  /// From any thread: reads nothing more, as if the stream ended. Who waits in read() goes on.
  void stop();

 private:
  struct Pieces;

  std::shared_ptr<Pieces> pieces_;  ///< With the thread.
  bool may_wait_;
  std::size_t taken_ = 0;  ///< Bytes of the piece that is taken from.
  std::thread thread_;
};

}  // namespace pagerank::io
