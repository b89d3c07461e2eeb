#pragma once

#include <ostream>

#include "app/exit_status.hpp"

namespace pagerank::app::bench {

/// The whole of pagerank-bench but for the process around it.
[[nodiscard]] ExitStatus run_bench(int argc, const char* const* argv, std::ostream& out);

}  // namespace pagerank::app::bench
