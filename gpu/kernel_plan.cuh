#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "gpu/spmv.cuh"

namespace pagerank::gpu {

template <class T>
using MakeSpmv =
    std::function<std::unique_ptr<Spmv<T>>(const DeviceGraph<T>& graph, cudaStream_t stream)>;

/// A kernel that may take another's place in the middle of a solve.
template <class T>
struct LaterKernel {
  double payback = 0;        ///< Worth it from so many iterations still to come, of all solves.
  std::uint32_t beside = 0;  ///< So many go by while it is prepared.
  std::uint32_t solves = 1;  ///< That are expected from now on.
  bool early = false;        ///< See KernelChoice.
  /// Null: there is none. Returns null if it cannot be had. Called by another thread.
  MakeSpmv<T> make;
  std::function<void()> taken;  ///< Called when it iterates.
};

/// Which kernels a graph gets.
template <class T>
struct KernelPlan {
  MakeSpmv<T> make;  ///< Of the one that begins.
  LaterKernel<T> later;
};

}  // namespace pagerank::gpu
