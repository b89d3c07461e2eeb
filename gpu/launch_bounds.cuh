#pragma once

#include <algorithm>

namespace pagerank::gpu {

/// How many blocks of `threads` a multiprocessor is to hold: `wanted`, or what the architecture
/// that is compiled for can (CUDA Programming Guide, technical specifications per compute
/// capability). For __launch_bounds__.
constexpr unsigned resident_blocks(unsigned threads, unsigned wanted) {
#if !defined(__CUDA_ARCH__)
  constexpr unsigned most_threads = 2048;
#elif __CUDA_ARCH__ < 800
  constexpr unsigned most_threads = 1024;
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200
  constexpr unsigned most_threads = 1536;
#else
  constexpr unsigned most_threads = 2048;
#endif
  return std::max(1U, std::min(wanted, most_threads / threads));
}

}  // namespace pagerank::gpu
