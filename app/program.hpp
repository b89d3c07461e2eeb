#pragma once

#include <ostream>

#include "app/exit_status.hpp"

namespace pagerank::app {

/// The whole program but for the process around it: parses the command line, does what it says,
/// logs to standard error, turns exceptions into a status.
[[nodiscard]] ExitStatus run_program(int argc, const char* const* argv, std::ostream& out);

}  // namespace pagerank::app
