#pragma once

namespace pagerank::gpu {

/// For programs that have the GPU once and briefly: has the driver make one way to it for all
/// streams rather than eight, which takes a quarter of the time off that a context takes to create
/// (docs/notebook/reading.md). Call it before CUDA is used and before other threads run. Who sets
/// CUDA_DEVICE_MAX_CONNECTIONS is obeyed.
void prefer_short_start();

/// Frees what the engines of this process that are gone left for the next: page-locked memory (up
/// to 4 MiB a thread, of 12 at most) and threads.
void release_kept_memory();

}  // namespace pagerank::gpu
