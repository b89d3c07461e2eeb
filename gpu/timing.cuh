#pragma once

#include <functional>
#include <vector>

#include "gpu/benchmark.hpp"
#include "gpu/cuda_handles.cuh"

namespace pagerank::gpu {

/// Device seconds of each run of what `queue` queues into the stream.
[[nodiscard]] std::vector<double> time_on_device(const Stream& stream, const TimingOptions& options,
                                                 const std::function<void()>& queue);

}  // namespace pagerank::gpu
