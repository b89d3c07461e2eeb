#include "gpu/process.hpp"

#include <array>
#include <atomic>
#include <cstdlib>

namespace pagerank::gpu {
namespace {

std::atomic<std::size_t> most_shared_memory = 0;
std::array<std::atomic<std::size_t>, 3> until_failure{};  ///< Of each Failure: the last, or 0.

std::atomic<std::size_t>& until(Failure what) {
  return until_failure[static_cast<std::size_t>(what)];
}

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

void fail_at(Failure what, std::size_t nth) {
  until(what) = nth;
}
bool failure_is_to_come(Failure what) {
  return until(what) != 0;
}
bool fails_now(Failure what) {
  std::size_t left = until(what);
  while (left != 0 && !until(what).compare_exchange_weak(left, left - 1)) {
  }
  return left == 1;
}

}  // namespace pagerank::gpu
