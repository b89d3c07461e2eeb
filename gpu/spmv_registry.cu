// The table of SpMV kernels. To add one: write its file, declare its row here, and name the file
// in gpu/CMakeLists.txt. Help, --kernel, tests and benchmarks follow.
#include <array>
#include <stdexcept>
#include <string>

#include "gpu/pagerank.hpp"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {

extern const SpmvKernel spmv_scalar, spmv_vector, spmv_cusparse;

std::span<const SpmvKernel> spmv_kernels() {
  static const std::array kernels = {
      spmv_vector,
      spmv_scalar,
      spmv_cusparse,
  };
  return kernels;
}

const SpmvKernel& find_spmv_kernel(std::string_view name) {
  if (name.empty()) return spmv_kernels().front();
  std::string known;
  for (const SpmvKernel& kernel : spmv_kernels()) {
    if (kernel.name == name) return kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw std::invalid_argument("there is no kernel '" + std::string(name) + "', expected " + known);
}

std::vector<Kernel> kernels() {
  std::vector<Kernel> list;
  for (const SpmvKernel& kernel : spmv_kernels()) list.push_back({kernel.name, kernel.lesson});
  return list;
}

}  // namespace pagerank::gpu
