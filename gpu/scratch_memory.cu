#include <algorithm>

#include "core/pagerank.hpp"
#include "gpu/scratch_memory.cuh"

namespace pagerank::gpu {
namespace {

/// Blocks are multiples of that, so that more requests find one.
constexpr std::size_t unit = std::size_t{1} << 20;
/// A block is not wasted on a request of less than its half, unless it is as small as this.
constexpr std::size_t small_block = 4 * unit;

struct Block {
  void* data;
  std::size_t bytes;
  bool taken;
};

}  // namespace

struct ScratchMemory::Blocks {
  explicit Blocks(cudaStream_t s) : stream(s) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { release(); }

  /// Frees what is not taken; cudaFree() waits for the work that still uses it.
  void release() noexcept {
    for (const Block& block : list) {
      if (!block.taken) cudaFree(block.data);
    }
    std::erase_if(list, [](const Block& block) { return !block.taken; });
  }

  [[nodiscard]] Block* best_fit(std::size_t bytes) {
    Block* best = nullptr;
    for (Block& block : list) {
      if (block.taken || block.bytes < bytes || block.bytes > std::max(2 * bytes, small_block)) {
        continue;
      }
      if (best == nullptr || block.bytes < best->bytes) best = &block;
    }
    return best;
  }

  cudaStream_t stream;
  std::vector<Block> list;
};

ScratchMemory::ScratchMemory(cudaStream_t stream) : blocks_(std::make_shared<Blocks>(stream)) {}

cudaStream_t ScratchMemory::stream() const {
  return blocks_->stream;
}

void* ScratchMemory::take(std::size_t bytes) {
  const std::size_t whole = (bytes + unit - 1) / unit * unit;
  if (Block* const block = blocks_->best_fit(whole)) {
    block->taken = true;
    return block->data;
  }
  void* data = nullptr;
  cudaError_t error = cudaMalloc(&data, whole);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: clear it
    blocks_->release();
    error = cudaMalloc(&data, whole);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("the GPU", whole, available());
  }
  PAGERANK_CUDA(error);
  blocks_->list.push_back({data, whole, true});
  return data;
}

void ScratchMemory::give(void* data) noexcept {
  for (Block& block : blocks_->list) {
    if (block.data == data) block.taken = false;
  }
}

std::size_t ScratchMemory::available() const {
  std::size_t bytes = 0, total = 0;
  PAGERANK_CUDA(cudaMemGetInfo(&bytes, &total));
  for (const Block& block : blocks_->list) {
    if (!block.taken) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace pagerank::gpu
