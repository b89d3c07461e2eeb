#include "gpu/process.hpp"

#include <atomic>
#include <cstdlib>

namespace pagerank::gpu {
namespace {

std::atomic<std::size_t> most_shared_memory = 0;

}  // namespace

void prefer_short_start() {
  constexpr int keep_what_is_set = 0;
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", keep_what_is_set);
}

void limit_shared_memory(std::size_t bytes_of_block) {
  most_shared_memory = bytes_of_block;
}
std::size_t shared_memory_limit() {
  return most_shared_memory;
}

}  // namespace pagerank::gpu
