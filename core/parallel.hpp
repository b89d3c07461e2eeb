#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <numeric>
#include <vector>

#include "core/threads.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Calls body(i) for each i in [0, count), handed out to the threads as they get free. Rethrows
/// the first exception of the lowest i that threw.
template <class Body>
void parallel_for(std::size_t count, int threads, Body body) {
  // Waking threads for one piece of work costs a small graph more than the work.
  threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), count));
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::exception_ptr error;
  std::size_t error_at = count;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t i = 0; i < count; ++i) {
    try {
      body(i);
    } catch (...) {
#pragma omp critical(pagerank_parallel_for_error)
      if (i < error_at) {
        error_at = i;
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Rows are worked on in blocks of this many, whatever the number of threads: sums are formed
/// within a block and the blocks' sums added in order, so the result does not depend on who did
/// what.
inline constexpr std::size_t rows_per_block = 1024;

/// Calls body(block, begin, end) for each block of rows of [0, rows).
template <class Body>
void parallel_for_blocks(NodeId rows, int threads, Body body) {
  const std::size_t blocks = (std::size_t{rows} + rows_per_block - 1) / rows_per_block;
  parallel_for(blocks, threads, [&](std::size_t block) {
    const std::size_t begin = block * rows_per_block;
    body(block, static_cast<NodeId>(begin),
         static_cast<NodeId>(std::min<std::size_t>(begin + rows_per_block, rows)));
  });
}

/// The sum over all rows of what body(begin, end) returns for a block of rows: the same bits for
/// any number of threads. Sum is default-constructible and has operator+=.
template <class Sum, class Body>
[[nodiscard]] Sum parallel_sum_blocks(NodeId rows, int threads, Body body) {
  std::vector<Sum> sums((std::size_t{rows} + rows_per_block - 1) / rows_per_block);
  parallel_for_blocks(rows, threads, [&](std::size_t block, NodeId begin, NodeId end) {
    sums[block] = body(begin, end);
  });
  return std::accumulate(sums.begin(), sums.end(), Sum{}, [](Sum a, const Sum& b) {
    a += b;
    return a;
  });
}

}  // namespace pagerank
