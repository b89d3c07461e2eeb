#pragma once

#include <string_view>

namespace pagerank::app {

/// Everything that is not a result goes to standard error, each message led by the program's name.
void start_logging(const char* program);

/// Whether standard error is a terminal.
[[nodiscard]] bool logs_to_terminal();

/// Shows a line that says how far the work is. On a terminal it stays below what is logged and the
/// next one takes its place, nothing if that is empty; elsewhere it is a line like others. From any
/// thread.
void show_status(std::string_view line);

}  // namespace pagerank::app
