#pragma once

namespace pagerank::gpu {

/// Has the driver load the kernels that a large graph will need, and the pools and handles that
/// come with their first use.
void warm_up(int device);

}  // namespace pagerank::gpu
