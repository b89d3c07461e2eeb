#include "gpu/process.hpp"

#include <array>
#include <atomic>
#include <cstdlib>

namespace pagerank::gpu {
namespace {

std::atomic<std::size_t> most_shared_memory = 0;
std::atomic<LayoutStream> late_stream = LayoutStream::none;

/// Of each Failure.
struct Failing {
  std::atomic<std::size_t> left = 0;      ///< Until the last that fails, with it.
  std::atomic<std::size_t> in_a_row = 1;  ///< The last of those that are left fail.
};
std::array<Failing, 3> failing_at;

Failing& failing(Failure what) {
  return failing_at[static_cast<std::size_t>(what)];
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

void fail_at(Failure what, std::size_t nth, std::size_t in_a_row) {
  failing(what).in_a_row = in_a_row;
  failing(what).left = nth == 0 ? 0 : nth + in_a_row - 1;
}
bool failure_is_to_come(Failure what) {
  return failing(what).left >= failing(what).in_a_row;
}
bool fails_now(Failure what) {
  Failing& state = failing(what);
  std::size_t left = state.left;
  while (left != 0 && !state.left.compare_exchange_weak(left, left - 1)) {
  }
  return left != 0 && left <= state.in_a_row;
}

void delay(LayoutStream which) {
  late_stream = which;
}
LayoutStream delayed_stream() {
  return late_stream;
}

}  // namespace pagerank::gpu
