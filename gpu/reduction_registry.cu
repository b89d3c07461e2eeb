// The table of reductions. To add one: write its file, add its row here, and name the file in
// CMakeLists.txt where this one is named. Tests and benchmarks follow.
#include <array>

#include "gpu/reduction.cuh"

namespace pagerank::gpu {

// From the naive one upwards, then the libraries.
#define PAGERANK_REDUCTIONS(row) \
  row(reduce_shared_tree) row(reduce_shuffle) row(reduce_cub) row(reduce_cublas)

#define PAGERANK_DECLARE(name) extern const ReductionKernel name;
PAGERANK_REDUCTIONS(PAGERANK_DECLARE)

std::span<const ReductionKernel> reduction_kernels() {
#define PAGERANK_LIST(name) name,
  static const std::array kernels = {PAGERANK_REDUCTIONS(PAGERANK_LIST)};
  return kernels;
}

}  // namespace pagerank::gpu
