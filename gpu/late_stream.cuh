#pragma once

#include <cuda_runtime.h>

#include "gpu/process.hpp"

namespace pagerank::gpu {

/// What is queued into the stream from now on is some milliseconds late, if a test asks for that of
/// `which`, as it is one of.
void be_late_if_asked(LayoutStream which, cudaStream_t stream);

}  // namespace pagerank::gpu
