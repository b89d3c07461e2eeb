#pragma once

#include <string>

#include "gpu/cuda_check.cuh"

namespace pagerank::gpu {

/// Makes the device the calling thread's and creates its context, if there is none. Returns its
/// name. Throws NoDevice where the device is not there, cannot be entered (another process holds
/// it, say), or is one that this program was not built for.
std::string enter_device(int device);

}  // namespace pagerank::gpu
