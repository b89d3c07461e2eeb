#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// The L1 norm of a device array of T (float or double), prepared for one length.
template <class T>
class Reduction {
 public:
  Reduction() = default;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  virtual ~Reduction() = default;

  /// *result (device memory) = sum of |x[i]| over the length it was made for. Only queues the work.
  virtual void reduce(const T* x, T* result, cudaStream_t stream) = 0;
};

/// One way to compute it: a row of the registry in reduction_registry.cu.
struct ReductionKernel {
  std::string_view name;
  std::string_view lesson;  ///< One line: what it does differently.

  /// `length` is any number from 1.
  std::unique_ptr<Reduction<float>> (*make_float)(std::uint64_t length, cudaStream_t stream);
  std::unique_ptr<Reduction<double>> (*make_double)(std::uint64_t length, cudaStream_t stream);

  /// Floats are added in double. (CUB is told to.)
  bool wide_sums = true;

  template <class T>
  [[nodiscard]] std::unique_ptr<Reduction<T>> make(std::uint64_t length,
                                                   cudaStream_t stream) const {
    if constexpr (std::is_same_v<T, double>) {
      return make_double(length, stream);
    } else {
      return make_float(length, stream);
    }
  }
};

/// Every reduction, from the naive one upwards.
[[nodiscard]] std::span<const ReductionKernel> reduction_kernels();

}  // namespace pagerank::gpu
