#pragma once

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {

/// sums[r] = what core's PiecewiseSum makes of weights[begins[r]] to weights[begins[r + 1] - 1],
/// bit for bit, for r < runs, which have so many terms together; `begins` has an element more. A
/// thread for each piece, so that a run of millions does not keep one busy alone. Queued, but where
/// there may be runs of more than a piece waits for how many there are.
void sum_runs(const double* weights, const std::uint64_t* begins, std::uint64_t runs,
              std::uint64_t terms, double* sums, DeviceAlgorithms& algorithms);

}  // namespace pagerank::gpu
