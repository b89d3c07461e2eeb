#pragma once

/// Before a function that runs on the host and, where the CUDA compiler reads it, on the device
/// too: so that the same logic serves both and can be tested without a GPU.
#ifdef __CUDACC__
#define PAGERANK_HOST_DEVICE __host__ __device__
#else
#define PAGERANK_HOST_DEVICE
#endif
