#include "gpu/shared_library.hpp"

#include <dlfcn.h>

#include "gpu/pagerank.hpp"

namespace pagerank::gpu {
namespace {

[[noreturn]] void refuse(const std::string& file) {
  const char* const reason = dlerror();
  throw KernelRefused(file + " cannot be loaded" +
                      (reason != nullptr ? ": " + std::string(reason) : ""));
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& file)
    : file_(file), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) refuse(file_);
}

void* SharedLibrary::address_of(const char* symbol) const {
  void* const address = dlsym(handle_, symbol);
  if (address == nullptr) refuse(file_);
  return address;
}

}  // namespace pagerank::gpu
