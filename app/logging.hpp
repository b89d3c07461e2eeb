#pragma once

namespace pagerank::app {

/// Everything that is not a result goes to standard error, each line led by the program's name.
void start_logging(const char* program);

}  // namespace pagerank::app
