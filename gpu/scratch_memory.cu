#include <algorithm>

#include "core/pagerank.hpp"
#include "gpu/held_memory.hpp"
#include "gpu/process.hpp"
#include "gpu/scratch_memory.cuh"

namespace pagerank::gpu {
namespace {

/// What the device gives at once for small arrays, which share it: less where there is a limit that
/// is near, so that what they leave is not missed.
constexpr std::size_t least_chunk = std::size_t{8} << 20;

std::size_t bytes_within(std::size_t most_held) {
  return most_held - std::min<std::size_t>(most_held, held_device_bytes);
}

std::size_t available_device_bytes(std::size_t most_held) {
  std::size_t free = 0, total = 0;
  PAGERANK_CUDA(cudaMemGetInfo(&free, &total));
  return std::min(free, bytes_within(most_held));
}

/// Part of a chunk, which is what the device gave at once.
struct Piece {
  std::byte* data;
  std::size_t bytes;
  bool taken;
  bool begins_chunk;
};

}  // namespace

cudaError_t allocate(void** data, std::size_t bytes) {
  return fails_now(Failure::allocation) ? cudaErrorMemoryAllocation : cudaMalloc(data, bytes);
}

bool is_little(std::size_t bytes, std::size_t most_held) {
  return bytes <= available_device_bytes(most_held) / 16;
}

/// All pieces, those of a chunk side by side; no two free neighbours in a chunk.
struct ScratchMemory::Pieces {
  Pieces(cudaStream_t s, std::size_t most) : stream(s), most_held(most) {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() { release(); }

  [[nodiscard]] bool is_free_chunk(std::size_t i) const {
    return !list[i].taken && list[i].begins_chunk &&
           (i + 1 == list.size() || list[i + 1].begins_chunk);
  }

  /// Frees the chunks of which nothing is taken; cudaFree() waits for the work that still uses
  /// them.
  void release() noexcept {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (!is_free_chunk(i)) continue;
      cudaFree(list[i].data);
      held_device_bytes -= list[i].bytes;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  [[nodiscard]] std::size_t within_limit() const { return bytes_within(most_held); }

  cudaError_t add_chunk(std::size_t bytes) {
    if (bytes > within_limit()) return cudaErrorMemoryAllocation;
    void* data = nullptr;
    const cudaError_t error = allocate(&data, bytes);
    if (error != cudaSuccess) return error;
    held_device_bytes += bytes;
    list.push_back({static_cast<std::byte*>(data), bytes, false, true});
    return error;
  }

  /// Null if there is none so large.
  [[nodiscard]] void* take(std::size_t bytes) {
    auto best = list.end();
    for (auto piece = list.begin(); piece != list.end(); ++piece) {
      if (piece->taken || piece->bytes < bytes) continue;
      if (best == list.end() || piece->bytes < best->bytes) best = piece;
    }
    if (best == list.end()) return nullptr;
    std::byte* const data = best->data;
    best->taken = true;
    if (best->bytes > bytes) {
      const Piece rest{data + bytes, best->bytes - bytes, false, false};
      best->bytes = bytes;
      list.insert(best + 1, rest);
    }
    return data;
  }

  void give(const void* data) noexcept {
    auto piece =
        std::find_if(list.begin(), list.end(), [&](const Piece& one) { return one.data == data; });
    if (piece == list.end()) return;
    piece->taken = false;
    const auto join_next = [&](std::vector<Piece>::iterator at) {
      const auto next = at + 1;
      if (next == list.end() || next->taken || next->begins_chunk) return;
      at->bytes += next->bytes;
      list.erase(next);
    };
    join_next(piece);
    if (!piece->begins_chunk && !(piece - 1)->taken) join_next(piece - 1);
  }

  cudaStream_t stream;
  std::size_t most_held;
  std::vector<Piece> list;
};

ScratchMemory::ScratchMemory(cudaStream_t stream, std::size_t bytes, std::size_t most_held)
    : pieces_(std::make_shared<Pieces>(stream, most_held)) {
  reserve(bytes);
}

void ScratchMemory::reserve(std::size_t bytes) {
  if (bytes == 0) return;
  const cudaError_t error = pieces_->add_chunk(rounded(bytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: clear it
    throw OutOfMemory("the GPU", rounded(bytes), available());
  }
  PAGERANK_CUDA(error);
}

cudaStream_t ScratchMemory::stream() const {
  return pieces_->stream;
}

void* ScratchMemory::take(std::size_t bytes) {
  const std::size_t whole = rounded(bytes);
  if (void* const data = pieces_->take(whole)) return data;
  const std::size_t shared = std::min(least_chunk, rounded(pieces_->within_limit() / 16));
  cudaError_t error = pieces_->add_chunk(std::max(whole, shared));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: clear it
    pieces_->release();
    error = pieces_->add_chunk(whole);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("the GPU", whole, available_device_bytes(pieces_->most_held));
  }
  PAGERANK_CUDA(error);
  return pieces_->take(whole);
}

void ScratchMemory::give(void* data) noexcept {
  pieces_->give(data);
}

void ScratchMemory::give_back() noexcept {
  pieces_->release();
}

std::size_t ScratchMemory::available() const {
  std::size_t bytes = available_device_bytes(pieces_->most_held);
  for (const Piece& piece : pieces_->list) {
    if (!piece.taken) bytes += piece.bytes;
  }
  return bytes;
}

}  // namespace pagerank::gpu
