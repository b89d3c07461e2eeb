// The table of SpMV kernels. To add one: write its file, add its row here, and name the file in
// gpu/CMakeLists.txt. --kernel, --list-kernels, tests and benchmarks follow.
#include <array>
#include <stdexcept>
#include <string>

#include "gpu/pagerank.hpp"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {

// Those that "auto" chooses among first, the others from the naive one upwards.
#define PAGERANK_SPMV_KERNELS(row)                                                              \
  row(spmv_balanced) row(spmv_blocked) row(spmv_scalar) row(spmv_block) row(spmv_texture)       \
      row(spmv_vector_shared) row(spmv_vector) row(spmv_subwarp) row(spmv_ell) row(spmv_hybrid) \
          row(spmv_cusparse) row(spmv_cusparse_alg1)

#define PAGERANK_DECLARE(name) extern const SpmvKernel name;
PAGERANK_SPMV_KERNELS(PAGERANK_DECLARE)

std::span<const SpmvKernel> spmv_kernels() {
#define PAGERANK_LIST(name) name,
  static const std::array kernels = {PAGERANK_SPMV_KERNELS(PAGERANK_LIST)};
  return kernels;
}

const SpmvKernel& find_spmv_kernel(std::string_view name) {
  std::string known;
  for (const SpmvKernel& kernel : spmv_kernels()) {
    if (kernel.name == name) return kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw std::invalid_argument("there is no kernel '" + std::string(name) + "', expected " + known);
}

std::vector<Kernel> kernels() {
  std::vector<Kernel> list;
  for (const SpmvKernel& kernel : spmv_kernels())
    list.push_back(
        {kernel.name, kernel.lesson, kernel.same_bits, kernel.wide_sums, kernel.library});
  return list;
}

}  // namespace pagerank::gpu
