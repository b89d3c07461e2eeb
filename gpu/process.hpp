#pragma once

namespace pagerank::gpu {

/// For programs that have the GPU once and briefly: has the driver make one way to it for all
/// streams rather than eight, which takes a quarter of the time off that a context takes to create
/// (docs/performance.md). Call it before CUDA is used and before other threads run. Who sets
/// CUDA_DEVICE_MAX_CONNECTIONS is obeyed.
void prefer_short_start();

}  // namespace pagerank::gpu
