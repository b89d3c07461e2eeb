#include "app/pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>

#include "app/engine_choice.hpp"
#include "app/exit_status.hpp"
#include "app/load_graph.hpp"
#include "app/logging.hpp"
#include "app/phase_clock.hpp"
#include "app/progress_display.hpp"
#include "core/convergence.hpp"
#include "core/ranking.hpp"
#include "core/threads.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/pagerank.hpp"
#include "io/atomic_file.hpp"
#include "io/input_error.hpp"
#include "io/report.hpp"

namespace pagerank::app {
namespace {

io::Report begin_report(const Options& options, const std::string& path) {
  io::Report report;
  report.graph.path = path;
  report.options = {.alpha = options.problem.alpha,
                    .dangling = name_of(options.problem.dangling),
                    .assignment = options.assignment,
                    .source = name_of(options.source),
                    .engine = name_of(options.engine),
                    .reader = name_of(options.reader),
                    .device = options.device,
                    .gpu_memory = options.gpu_memory,
                    .kernel = options.kernel,
                    .precision = options.precision ? name_of(*options.precision) : "auto",
                    .threads = thread_count(options.threads),
                    .tolerance = options.tolerance,
                    .max_iterations = options.max_iterations};
  report.version = PAGERANK_VERSION;
  return report;
}

/// Creates the GPU's context beside the reading of a graph that is large enough for it to matter: a
/// small one should fail or succeed without having touched the GPU.
std::future<void> create_context_for(const Options& options, const std::string& path) {
  constexpr std::uintmax_t worth_it = 4 << 20;
  std::error_code unknown_size;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown_size);
  if (options.engine == EngineChoice::cpu || unknown_size || size < worth_it) return {};
  try {
    return std::async(std::launch::async, gpu::create_context, options.device);
  } catch (const std::system_error&) {  // no more threads are to be had: when it is needed, then
    return {};
  }
}

bool shows_progress(const Options& options) {
  if (options.progress != ProgressChoice::automatic) {
    return options.progress == ProgressChoice::always;
  }
  return logs_to_terminal() && !options.quiet && !options.verbose;
}

/// Where a solve stands, told by one thread and asked for by another.
class SolveStatus {
 public:
  void set(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (progress_.iteration == 0) first_ = progress;
    progress_ = progress;
  }
  [[nodiscard]] std::string line(double tolerance) const {
    const std::lock_guard lock(mutex_);
    if (progress_.iteration == 0) return "iterating";
    // Errors shrink by about the same factor each time.
    const double share = std::log(first_.error_bound / progress_.error_bound) /
                         std::log(first_.error_bound / tolerance);
    return fmt::format("iteration {}: error at most {:.1e}, to be {:.1e} {}", progress_.iteration,
                       progress_.error_bound, tolerance,
                       progress_bar(progress_.error_bound <= tolerance ? 1 : share));
  }

 private:
  mutable std::mutex mutex_;
  Progress first_{}, progress_{};
};

/// The graph, and its engine. A graph that the GPU read without need, and for whose engine it then
/// has too little memory, is read again by the host.
ChosenEngine load_and_prepare(const Options& options, const std::string& path, PhaseClock& clock,
                              ProgressDisplay& progress, io::Report& report, LoadedGraph& graph) {
  std::future<void> context = create_context_for(options, path);
  graph = load_graph(options, path, clock, progress, report);
  if (context.valid()) context.wait();
  const auto making = [] { return std::string("preparing the engine"); };
  try {
    const ProgressStep step(progress, making);
    return choose_engine(options, graph);
  } catch (const std::exception& error) {
    if (!graph.device_matrix || options.reader == ReaderChoice::device || !is_lack_of_gpu(error)) {
      throw;
    }
    spdlog::info("the host reads the text again: {}", message_of(error));
  }
  Options by_host = options;
  by_host.reader = ReaderChoice::host;
  graph = load_graph(by_host, path, clock, progress, report);
  const ProgressStep step(progress, making);
  return choose_engine(by_host, graph);
}

/// The error as the graph's nodes are called.
DanglingNodesError error_about(const DanglingNodesError& error, const LoadedGraph& graph) {
  const NodeNames names = graph.names();
  if (names.more_unlinked == 0) {
    return {error.first(), error.count(), label_of(error.first(), names.labels)};
  }
  // Of those with a row of their own and those that share one.
  std::uint64_t first = UnlinkedNodes(names).label();
  if (error.first() < names.labels.size()) first = std::min(first, names.labels[error.first()]);
  return {error.first(), error.count(), first};
}

Solution solve(const Options& options, const ChosenEngine& chosen, const LoadedGraph& graph,
               PhaseClock& clock, ProgressDisplay& progress_display, io::Report& report) try {
  report.engine = chosen.name;
  report.device = chosen.engine->device();
  report.kernel = chosen.engine->kernel();
  report.precision = name_of(chosen.precision);
  const double made = clock.lap();
  (chosen.name == "gpu" ? report.seconds.upload : report.seconds.build) += made;
  spdlog::debug("the engine was made in {:.3f} s", made);
  if (!chosen.why.empty()) {
    spdlog::info("no GPU is used: {}; ranking on the CPU{}", chosen.why,
                 options.kernel == "auto" ? "" : ", --kernel has no effect");
  }
  spdlog::info("engine: {} ({}{}), {} precision", chosen.name, report.device,
               report.kernel.empty() ? "" : ", kernel " + report.kernel, report.precision);

  SolveOptions solve_options{.tolerance = options.tolerance,
                             .max_iterations = options.max_iterations};
  SolveStatus status;
  solve_options.observer = [&](const Progress& progress) {
    status.set(progress);
    if (options.verbose) {
      spdlog::debug("iteration {}: change {:.3e}, error at most {:.3e}", progress.iteration,
                    progress.change, progress.error_bound);
    }
  };
  Solution solution;
  {
    const ProgressStep step(progress_display, [&] { return status.line(options.tolerance); });
    solution = chosen.engine->solve(options.problem, solve_options);
  }
  report.seconds.solve = clock.lap();
  if (report.kernel != chosen.engine->kernel()) {
    report.kernel = chosen.engine->kernel();
    spdlog::info("so many iterations were to come that kernel {} took over", report.kernel);
  }
  // A cache could say so that nobody wrote; a ranking needs numbers that can be compared.
  if (!std::isfinite(solution.error_bound)) {
    throw io::InputError(report.graph.path + ": the scores grow beyond all numbers");
  }
  report.iterations = solution.iterations;
  report.converged = solution.converged;
  report.error_bound = solution.error_bound;
  report.residual_history = solution.changes;
  return solution;
} catch (const DanglingNodesError& error) {
  throw error_about(error, graph);
}

std::string provenance(const io::Report& report) {
  return fmt::format(
      "PageRank of {}, alpha {}, {} index is the source\n"
      "{} after {} iterations, L1 error at most {:.3e}",
      report.graph.path, report.options.alpha, report.graph.source,
      report.converged ? "converged" : "NOT CONVERGED", report.iterations, report.error_bound);
}

void log_result(const Options& options, const io::Report& report) {
  if (report.converged) {
    spdlog::info("converged after {} iterations, L1 error at most {:.3e}", report.iterations,
                 report.error_bound);
  } else {
    spdlog::warn(
        "{}: NOT CONVERGED after {} iterations: L1 error at most {:.3e}, tolerance {:.3e}{}",
        io::input_name(report.graph.path), report.iterations, report.error_bound, options.tolerance,
        report.iterations < options.max_iterations
            ? "; rounding stops it there" + std::string(options.precision == Precision::float32
                                                            ? ", --precision double goes further"
                                                            : "")
            : "");
  }
  spdlog::info("the order of the first {} of {} nodes is certain", report.certified_depth,
               report.graph.nodes);
}

void log_seconds(const io::Report::Seconds& seconds) {
  spdlog::info(
      "seconds: read {:.3f}, build {:.3f}, {}{}solve {:.3f}, rank {:.3f}, write {:.3f}, "
      "total {:.3f}",
      seconds.read, seconds.build,
      seconds.cache > 0 ? fmt::format("cache {:.3f}, ", seconds.cache) : "",
      seconds.upload > 0 ? fmt::format("upload {:.3f}, ", seconds.upload) : "", seconds.solve,
      seconds.rank, seconds.write, seconds.total);
}

}  // namespace

ExitStatus rank_graph(const Options& options, const std::string& path, std::ostream& table,
                      PhaseClock clock) {
  ProgressDisplay progress(shows_progress(options));
  io::Report report = begin_report(options, path);
  LoadedGraph graph;
  ChosenEngine chosen = load_and_prepare(options, path, clock, progress, report, graph);
  const Solution solution = solve(options, chosen, graph, clock, progress, report);

  const std::string output = options.output_path(path);
  const bool rank_all = !output.empty() && io::is_ranked(options.output_format());
  const std::size_t depth =
      rank_all ? solution.scores.size() : std::min(options.top, solution.scores.size());
  constexpr std::size_t many = 1 << 16;
  if (depth > many) {  // ranking takes memory, too: that of what is done with
    chosen.engine.reset();
    graph.matrix = {};
    graph.blocked_matrix.reset();
    graph.device_matrix.reset();
  }
  const std::vector<NodeId> order = rank_nodes(solution.scores, depth, options.threads);
  report.certified_depth =
      certified_depth(solution.scores, solution.error_bound, options.threads, graph.more_unlinked);
  report.seconds.rank = clock.lap();
  log_result(options, report);

  if (!output.empty()) {
    io::AtomicFile file(output);
    std::optional<ProgressStep> step;
    if (!file.is_direct()) {  // else to the same terminal, perhaps
      step.emplace(progress, [&output] { return "writing " + output; });
    }
    io::write_scores(file.stream(), options.output_format(),
                     {solution.scores, order, graph.names()}, provenance(report));
    file.commit();
  }
  if (options.top > 0) {
    if (options.graphs.size() > 1) table << "# " << path << '\n';
    io::write_scores(table, io::ScoreFormat::tsv,
                     {solution.scores, order, graph.names(), options.top});
    table.flush();
  }
  report.seconds.write = clock.lap();
  report.seconds.total = clock.total();
  log_seconds(report.seconds);
  if (!options.report.empty()) {
    io::AtomicFile file(options.report);
    io::write_report(file.stream(), report);
    file.commit();
  }
  if (!table) throw io::OutputError("cannot write the table to standard output");
  return solution.converged ? ExitStatus::converged : ExitStatus::not_converged;
}

}  // namespace pagerank::app
