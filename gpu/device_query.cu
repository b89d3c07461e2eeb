#include <string>

#include "gpu/cuda_check.cuh"
#include "gpu/pagerank.hpp"

namespace pagerank::gpu {
std::string unavailable_reason(int device) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return "no NVIDIA driver was found";
  }
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  if (count == 0) return "no GPU was found";
  if (device < 0 || device >= count) {
    return "there is no GPU " + std::to_string(device) + ", the last is " +
           std::to_string(count - 1);
  }
  return {};
}

std::vector<Device> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<Device> list;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    PAGERANK_CUDA(cudaGetDeviceProperties(&properties, index));
    list.push_back({index, properties.name, properties.totalGlobalMem,
                    std::to_string(properties.major) + "." + std::to_string(properties.minor)});
  }
  return list;
}

}  // namespace pagerank::gpu
