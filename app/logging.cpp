#include "app/logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace pagerank::app {

void start_logging(const char* program) {
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace pagerank::app
