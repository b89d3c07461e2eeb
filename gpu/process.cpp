#include "gpu/process.hpp"

#include <cstdlib>

namespace pagerank::gpu {

void prefer_short_start() {
  constexpr int keep_what_is_set = 0;
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", keep_what_is_set);
}

}  // namespace pagerank::gpu
