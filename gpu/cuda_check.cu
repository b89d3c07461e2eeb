#include "gpu/cuda_check.cuh"

#include <string>

#include "gpu/pagerank.hpp"

namespace pagerank::gpu {
namespace {

std::string at(const char* call, const char* file, int line) {
  const std::string path = file;
  const std::size_t slash = path.rfind('/');
  return std::string(call) + " (" + path.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(line) + ")";
}

}  // namespace

void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  const std::string message = at(call, file, line) + ": " + cudaGetErrorString(error);
  cudaGetLastError();  // or the next launch would be blamed for what can be cleared
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  throw CudaError(message);
}

}  // namespace pagerank::gpu
