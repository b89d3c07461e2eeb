#include "app/program.hpp"

#include <spdlog/spdlog.h>

#include "app/engine_choice.hpp"
#include "app/exit_status.hpp"
#include "app/logging.hpp"
#include "app/options.hpp"
#include "app/pipeline.hpp"
#include "gpu/pagerank.hpp"
#include "io/atomic_file.hpp"

namespace pagerank::app {
namespace {

/// Logs the exception and returns what it means; `graph` is what was being ranked, if anything.
ExitStatus report_failure(const std::exception& error, const std::string& graph) {
  const ExitStatus status = status_of(error);
  std::string message = message_of(error);
  if (status == ExitStatus::bad_usage) {
    message += "; see pagerank --help";
  } else if (!graph.empty() && !message.starts_with(graph + ":")) {
    message.insert(0, graph + ": ");
  }
  spdlog::error("{}", message);
  return status;
}

void list_kernels(std::ostream& out) {
  const std::vector<gpu::Kernel> kernels = gpu::kernels();
  if (kernels.empty()) spdlog::warn("no GPU kernels: {}", gpu::NotCompiled().what());
  if (!kernels.empty()) {
    out << "auto\tthe default: balanced or blocked, whichever suits the graph and the tolerance\n";
  }
  for (const gpu::Kernel& kernel : kernels) out << kernel.name << '\t' << kernel.lesson << '\n';
}

void list_devices(std::ostream& out) {
  const std::vector<gpu::Device> devices = gpu::devices();
  if (devices.empty()) spdlog::warn("no GPUs: {}", gpu::unavailable_reason());
  for (const gpu::Device& device : devices) {
    out << device.index << '\t' << device.name << '\t' << device.memory / (std::size_t{1} << 20)
        << " MiB\tcompute capability " << device.capability << '\n';
  }
}

ExitStatus rank_graphs(const Options& options, std::ostream& out) {
  PhaseClock clock;  // of the first graph, for which a GPU may have to be woken
  require_engine(options);
  ExitStatus status = ExitStatus::converged;
  for (const std::string& graph : options.graphs) {
    try {
      status = worse(status, rank_graph(options, graph, out, clock));
    } catch (const std::exception& error) {
      status = worse(status, report_failure(error, io::input_name(graph)));
    }
    clock = {};
    const bool only_table = options.output_dir.empty() && !options.cache;
    if (!out && only_table) break;  // nobody reads what is still to come
  }
  return status;
}

}  // namespace

ExitStatus run_program(int argc, const char* const* argv, std::ostream& out) {
  start_logging("pagerank");
  try {
    const Options options = parse_options(argc, argv);
    spdlog::set_level(options.quiet     ? spdlog::level::warn
                      : options.verbose ? spdlog::level::debug
                                        : spdlog::level::info);
    switch (options.action) {
      case Options::Action::rank:
        return rank_graphs(options, out);
      case Options::Action::help:
        out << help_text();
        break;
      case Options::Action::version:
        out << "pagerank " << PAGERANK_VERSION << '\n';
        break;
      case Options::Action::list_kernels:
        list_kernels(out);
        break;
      case Options::Action::list_devices:
        list_devices(out);
        break;
    }
    out.flush();
    if (!out) throw io::OutputError("cannot write to standard output");
    return ExitStatus::converged;
  } catch (const std::exception& error) {
    return report_failure(error, "");
  }
}

}  // namespace pagerank::app
