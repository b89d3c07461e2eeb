#pragma once

#include <ostream>
#include <string>

#include "app/exit_status.hpp"
#include "app/options.hpp"
#include "app/phase_clock.hpp"

namespace pagerank::app {

/// Reads, builds, solves, ranks and writes one graph; the table goes to `table`. What `clock` has
/// by then is part of reading. Returns converged or not_converged, and throws where there is no
/// result.
[[nodiscard]] ExitStatus rank_graph(const Options& options, const std::string& path,
                                    std::ostream& table, PhaseClock clock = {});

}  // namespace pagerank::app
