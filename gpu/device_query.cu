#include <algorithm>
#include <string>

#include "core/pagerank.hpp"
#include "gpu/device.cuh"
#include "gpu/held_memory.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/scratch_memory.cuh"
#include "gpu/warm_up.hpp"

namespace pagerank::gpu {
namespace {

/// Loads only on a device that the program holds code for.
__global__ void probe() {}

}  // namespace

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

std::string enter_device(int device) {
  if (const std::string reason = unavailable_reason(device); !reason.empty()) {
    throw NoDevice(reason);
  }
  cudaDeviceProp properties{};
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe);
  if (error != cudaSuccess) {
    cudaGetLastError();
    throw NoDevice("GPU " + std::to_string(device) + ": " + cudaGetErrorString(error));
  }
  return properties.name;
}

std::size_t DeviceMemory::available(std::size_t held) const {
  std::size_t free = 0, total = 0;
  PAGERANK_CUDA(cudaMemGetInfo(&free, &total));
  return limit > 0 ? std::min(free + held, limit) : free + held;
}

std::size_t DeviceMemory::most_held(std::size_t held) const {
  return limit > 0 ? std::max<std::size_t>(held_device_bytes, held) - held + limit
                   : ScratchMemory::unlimited;
}

void DeviceMemory::require(std::size_t needed, std::size_t held) const {
  const std::size_t most = available(held);
  if (needed > most) throw OutOfMemory(device, needed, most);
}

double memory_bandwidth() {
  int device = 0, kilohertz = 0, bits = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  PAGERANK_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device));
  PAGERANK_CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  return 2.0 * kilohertz * 1000 * bits / 8;  // both edges of the clock
}

void create_context(int device, bool load_kernels) noexcept {
  try {
    enter_device(device);
    if (load_kernels) warm_up(device);
  } catch (const std::exception&) {
    // Whoever needs the device will hear of it.
  }
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
