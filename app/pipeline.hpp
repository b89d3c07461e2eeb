#pragma once

#include <ostream>
#include <string>

#include "app/exit_status.hpp"
#include "app/options.hpp"

namespace pagerank::app {

/// Reads, builds, solves, ranks and writes one graph; the table goes to `table`. Returns converged
/// or not_converged, and throws where there is no result.
[[nodiscard]] ExitStatus rank_graph(const Options& options, const std::string& path,
                                    std::ostream& table);

}  // namespace pagerank::app
