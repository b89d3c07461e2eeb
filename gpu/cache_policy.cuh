#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

namespace pagerank::gpu {

/// How loads and stores treat the caches: hints, where the architecture knows them (PTX ISA, cache
/// eviction priorities and createpolicy, from compute capability 8.0 on).

/// Loads what a kernel reads once, first to be evicted from the caches, which then keep more of
/// what is read again and again.
template <class T>
__device__ T load_once(const T* place) {
  return __ldcs(place);
}

/// Stores what the next kernel reads: last to be evicted from L2.
template <class T>
__device__ void store_to_keep(T* place, T value) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(T) == sizeof(float)) {
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(place), "f"(value), "l"(policy)
                 : "memory");
  } else {
    asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(place), "d"(value), "l"(policy)
                 : "memory");
  }
#else
  *place = value;
#endif
}

/// One element from global to shared memory, like __pipeline_memcpy_async(), for the last time:
/// first to be evicted from then on.
template <class T>
__device__ void copy_once_async(T* to_shared, const T* from) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
               "n"(sizeof(T)), "l"(policy)
               : "memory");
#else
  __pipeline_memcpy_async(to_shared, from, sizeof(T));
#endif
}

/// Says that nobody reads [begin, end) before it is written again: what whole lines of it L2 still
/// holds need not go to memory. The elements are indeterminate from then on.
template <class T>
__device__ void discard(const T* begin, const T* end) {
#if __CUDA_ARCH__ >= 800
  constexpr std::uint64_t line = 128;
  const std::uint64_t last = reinterpret_cast<std::uintptr_t>(end) / line;
  for (auto i = (reinterpret_cast<std::uintptr_t>(begin) + line - 1) / line; i < last; ++i) {
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(i * line) : "memory");
  }
#endif
}

}  // namespace pagerank::gpu
