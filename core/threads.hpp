#pragma once

namespace pagerank {

/// The number of threads to use where `requested` were asked for; 0 asks for what OpenMP offers.
[[nodiscard]] int thread_count(int requested);

}  // namespace pagerank
