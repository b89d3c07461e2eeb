#include "io/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "core/array.hpp"

namespace pagerank::io {

/// A ring: the thread fills pieces in order, the other side takes them in order.
struct ReadAhead::Pieces {
  struct Piece {
    Array<char> memory;
    std::size_t size = 0;
    std::exception_ptr error;  ///< In its place; it is the last one.
  };

  Read read;
  std::array<Piece, most_pieces>
      ring;          ///< Those that are ready belong to the taker, else to fill()
  std::mutex mutex;  ///< Guards what follows.
  std::condition_variable changed;
  std::size_t first = 0;  ///< In the ring, of those that are
  std::size_t ready = 0;  ///< ready.
  bool ended = false;     ///< No more will be.
  bool unwanted = false;  ///< Nobody takes them.

  void fill() {
    std::unique_lock lock(mutex);
    while (!ended) {
      changed.wait(lock, [this] { return ready < most_pieces || unwanted; });
      if (unwanted) return;
      Piece& piece = ring.at((first + ready) % most_pieces);
      lock.unlock();
      try {
        piece.memory.resize(piece_bytes);
        piece.size = read(piece.memory);
      } catch (...) {
        piece.error = std::current_exception();
      }
      lock.lock();
      ended = piece.error || piece.size == 0;
      ++ready;
      changed.notify_one();
    }
  }

  /// The first piece that was not taken whole, once it is there; null at the end.
  Piece* wait_for_first() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return ready > 0 || ended || unwanted; });
    return ready > 0 ? &ring.at(first) : nullptr;
  }

  void give_back_first() {
    const std::lock_guard lock(mutex);
    first = (first + 1) % most_pieces;
    --ready;
    changed.notify_one();
  }
};

ReadAhead::ReadAhead(Read read, bool may_wait)
    : pieces_(std::make_shared<Pieces>()), may_wait_(may_wait) {
  pieces_->read = std::move(read);
  thread_ = std::thread([pieces = pieces_] { pieces->fill(); });
}

ReadAhead::~ReadAhead() {
  bool over = false;
  {
    const std::lock_guard lock(pieces_->mutex);
    pieces_->unwanted = true;
    over = pieces_->ended;
  }
  pieces_->changed.notify_all();
  if (may_wait_ && !over) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void ReadAhead::stop() {
  {
    const std::lock_guard lock(pieces_->mutex);
    pieces_->unwanted = true;
  }
  pieces_->changed.notify_all();  // the thread, and who takes pieces
}

std::size_t ReadAhead::read(std::span<char> buffer) {
  std::size_t total = 0;
  while (total < buffer.size()) {
    const Pieces::Piece* const piece = pieces_->wait_for_first();
    if (piece == nullptr) break;
    if (piece->error) {
      if (total > 0) break;
      std::rethrow_exception(piece->error);
    }
    const std::size_t bytes = std::min(buffer.size() - total, piece->size - taken_);
    std::copy_n(piece->memory.data() + taken_, bytes, buffer.data() + total);
    total += bytes;
    taken_ += bytes;
    if (taken_ < piece->size) break;
    taken_ = 0;
    pieces_->give_back_first();
  }
  return total;
}

}  // namespace pagerank::io
