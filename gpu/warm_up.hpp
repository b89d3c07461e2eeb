#pragma once

namespace pagerank::gpu {

/// Has the driver load the kernels that a large graph will need in float and mixed precision, and
/// what comes with their first use.
void warm_up(int device);

}  // namespace pagerank::gpu
