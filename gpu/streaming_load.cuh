#pragma once

namespace pagerank::gpu {

/// Loads what a kernel reads once, first to be evicted from the caches, which then keep more of
/// what is read again and again.
template <class T>
__device__ T load_once(const T* place) {
  return __ldcs(place);
}

}  // namespace pagerank::gpu
