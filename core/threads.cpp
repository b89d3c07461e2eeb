#include "core/threads.hpp"

#include <omp.h>

namespace pagerank {

int thread_count(int requested) {
  return requested > 0 ? requested : omp_get_max_threads();
}

}  // namespace pagerank
