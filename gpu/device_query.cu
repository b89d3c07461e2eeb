#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "core/pagerank.hpp"
#include "gpu/device.cuh"
#include "gpu/held_memory.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/process.hpp"
#include "gpu/scratch_memory.cuh"
#include "gpu/shared_library.hpp"

namespace pagerank::gpu {
namespace {

/// Loads only on a device that the program holds code for.
__global__ void probe() {}

}  // namespace

bool has_driver() {
  // (The runtime's cudaDriverGetVersion() would wake it, or wait for another thread that does.)
  static const bool there = [] {
    try {
      const SharedLibrary driver("libcuda.so.1");
      int (*get_version)(int*) = nullptr;
      driver.find(get_version, "cuDriverGetVersion");
      int version = 0;
      return get_version(&version) != 0 || version != 0;
    } catch (const KernelRefused&) {
      return false;
    }
  }();
  return there;
}

std::string unavailable_reason(int device) {
  if (!has_driver()) return "no NVIDIA driver was found";
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

namespace {

/// What does not change while the process lives, and takes the driver half a millisecond to say.
struct Facts {
  std::string name;
  DeviceTraits traits;
};

cudaError_t ask_for_facts(int device, Facts& facts) {
  static std::mutex mutex;
  static std::map<int, Facts> known;
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(device); found != known.end()) {
    facts = found->second;
    return cudaSuccess;
  }
  cudaDeviceProp properties{};
  int kilohertz = 0, bits = 0;
  cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device);
  }
  if (error != cudaSuccess) return error;
  const double edges = 2;  // of the clock
  facts.name = properties.name;
  const double bandwidth = edges * kilohertz * 1000 * bits / 8;
  if (bandwidth > 0) facts.traits.memory_bandwidth = bandwidth;
  facts.traits.shared_memory = {
      .most_of_block = properties.sharedMemPerBlockOptin,
      .of_multiprocessor = properties.sharedMemPerMultiprocessor,
      .taken_of_block = properties.reservedSharedMemPerBlock,
      .threads = static_cast<std::uint32_t>(properties.maxThreadsPerMultiProcessor)};
  known.emplace(device, facts);
  return cudaSuccess;
}

}  // namespace

std::string enter_device(int device) {
  if (const std::string reason = unavailable_reason(device); !reason.empty()) {
    throw NoDevice(reason);
  }
  Facts facts;
  cudaFuncAttributes attributes{};
  cudaError_t error = ask_for_facts(device, facts);
  if (error == cudaSuccess) error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe);
  if (error != cudaSuccess) {
    cudaGetLastError();
    throw NoDevice("GPU " + std::to_string(device) + ": " + cudaGetErrorString(error));
  }
  return facts.name;
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

DeviceTraits device_traits() {
  int device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  Facts facts;
  PAGERANK_CUDA(ask_for_facts(device, facts));
  facts.traits.shared_memory = facts.traits.shared_memory.within(shared_memory_limit());
  return facts.traits;
}

void create_context(int device) noexcept {
  try {
    enter_device(device);
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
