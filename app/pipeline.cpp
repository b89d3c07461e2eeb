#include "app/pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <utility>

#include "app/engine_choice.hpp"
#include "app/host_memory.hpp"
#include "core/convergence.hpp"
#include "core/ranking.hpp"
#include "core/threads.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/pagerank.hpp"
#include "io/atomic_file.hpp"
#include "io/graph_reader.hpp"
#include "io/report.hpp"

namespace pagerank::app {
namespace {

/// Times consecutive phases by wall clock.
class PhaseClock {
 public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    const auto now = Clock::now();
    return seconds(std::exchange(lap_, now), now);
  }
  [[nodiscard]] double total() const { return seconds(start_, Clock::now()); }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }
  Clock::time_point start_ = Clock::now();
  Clock::time_point lap_ = start_;
};

io::Report begin_report(const Options& options, const std::string& path) {
  io::Report report;
  report.graph.path = path;
  report.graph.source = name_of(options.source);
  report.options = {.alpha = options.problem.alpha,
                    .dangling = name_of(options.problem.dangling),
                    .assignment = options.assignment,
                    .source = name_of(options.source),
                    .engine = name_of(options.engine),
                    .device = options.device,
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
  constexpr std::uintmax_t worth_it = 4 << 20, takes_a_second = 256 << 20;
  std::error_code unknown_size;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown_size);
  if (options.engine == EngineChoice::cpu || unknown_size || size < worth_it) return {};
  return std::async(std::launch::async, gpu::create_context, options.device,
                    size >= takes_a_second);
}

/// A graph that is ready to be ranked, and what its nodes are called.
struct LoadedGraph {
  TransitionMatrix matrix;
  NodeLabels labels;
};

/// Opens a graph of the format that was asked for, or that the file says it has.
io::GraphReader open_graph(const Options& options, const std::string& path, io::ByteSource& source,
                           io::GraphFormat format) {
  try {
    return {source, format, {.threads = options.threads}};
  } catch (const io::ParseError& error) {
    const bool was_guessed = !options.input_format && !io::format_by_name(path);
    if (!was_guessed || error.fault() != io::ParseFault::bad_banner) throw;
    throw io::InputError(error.what() + std::string("; an edge list needs --input-format edges"));
  }
}

LoadedGraph load(const Options& options, const std::string& path, PhaseClock& clock,
                 io::Report& report) {
  io::ByteSource source(path);
  const io::GraphFormat format =
      options.input_format ? *options.input_format : io::format_of(source, path);
  io::GraphReader reader = open_graph(options, path, source, format);
  require_host_memory(reader.expected_bytes());
  reader.read(options.source);
  report.seconds.read = clock.lap();
  // Only now: what is wrong with the file comes first.
  require_host_memory(bytes_to_rank(reader.node_count(), reader.link_count(), reader.weighted()));
  LoadedGraph graph{reader.build(), reader.take_labels()};
  report.seconds.build = clock.lap();

  const TransitionMatrix& matrix = graph.matrix;
  report.graph.format = name_of(format);
  report.graph.nodes = matrix.node_count();
  report.graph.smallest_node = label_of(0, graph.labels);
  report.graph.largest_node = label_of(matrix.node_count() - 1, graph.labels);
  report.graph.entries = reader.entry_count();
  report.graph.links = matrix.distinct_links;
  report.graph.dangling = matrix.dangling.size();
  report.graph.weighted = matrix.weighted();
  report.graph.symmetric = reader.symmetric();
  spdlog::info("{}: {} nodes{}, {} entries, {} links, {} dangling nodes; {} index is the source{}",
               source.name(), report.graph.nodes,
               graph.labels.empty() ? ""
                                    : fmt::format(" called {} to {}", report.graph.smallest_node,
                                                  report.graph.largest_node),
               report.graph.entries, report.graph.links, report.graph.dangling,
               name_of(options.source), reader.symmetric() ? " (symmetric: links both ways)" : "");
  return graph;
}

Solution solve(const Options& options, const LoadedGraph& graph, PhaseClock& clock,
               io::Report& report) try {
  const ChosenEngine chosen = choose_engine(options, graph.matrix);
  report.engine = chosen.name;
  report.device = chosen.engine->device();
  report.kernel = chosen.kernel;
  report.precision = name_of(chosen.precision);
  report.seconds.upload = clock.lap();
  if (!chosen.why.empty()) {
    spdlog::info("no GPU is used: {}; ranking on the CPU{}", chosen.why,
                 options.kernel == "auto" ? "" : ", --kernel has no effect");
  }
  spdlog::info("engine: {} ({}{}), {} precision", chosen.name, report.device,
               chosen.kernel.empty() ? "" : ", kernel " + chosen.kernel, report.precision);

  SolveOptions solve_options{.tolerance = options.tolerance,
                             .max_iterations = options.max_iterations};
  if (options.verbose) {
    solve_options.observer = [](const Progress& progress) {
      spdlog::debug("iteration {}: change {:.3e}, error at most {:.3e}", progress.iteration,
                    progress.change, progress.error_bound);
    };
  }
  Solution solution = chosen.engine->solve(options.problem, solve_options);
  report.seconds.solve = clock.lap();
  report.iterations = solution.iterations;
  report.converged = solution.converged;
  report.error_bound = solution.error_bound;
  report.residual_history = solution.changes;
  return solution;
} catch (const DanglingNodesError& error) {
  throw DanglingNodesError(error.first(), error.count(), label_of(error.first(), graph.labels));
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
        report.graph.path, report.iterations, report.error_bound, options.tolerance,
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
      "seconds: read {:.3f}, build {:.3f}, upload {:.3f}, solve {:.3f}, rank {:.3f}, write {:.3f}, "
      "total {:.3f}",
      seconds.read, seconds.build, seconds.upload, seconds.solve, seconds.rank, seconds.write,
      seconds.total);
}

}  // namespace

ExitStatus rank_graph(const Options& options, const std::string& path, std::ostream& table) {
  PhaseClock clock;
  io::Report report = begin_report(options, path);
  std::future<void> context = create_context_for(options, path);
  const LoadedGraph graph = load(options, path, clock, report);
  if (context.valid()) context.wait();
  const Solution solution = solve(options, graph, clock, report);

  const std::string output = options.output_path(path);
  const bool rank_all = !output.empty() && io::is_ranked(options.output_format());
  const std::vector<NodeId> order =
      rank_nodes(solution.scores, rank_all ? solution.scores.size() : options.top);
  report.certified_depth = certified_depth(solution.scores, solution.error_bound);
  report.seconds.rank = clock.lap();
  log_result(options, report);

  if (!output.empty()) {
    io::AtomicFile file(output);
    io::write_scores(file.stream(), options.output_format(), solution.scores, order, graph.labels,
                     provenance(report));
    file.commit();
  }
  if (options.top > 0) {
    if (options.graphs.size() > 1) table << "# " << path << '\n';
    io::write_scores(table, io::ScoreFormat::tsv, solution.scores,
                     std::span(order).first(std::min(options.top, order.size())), graph.labels);
    table.flush();
    if (!table) throw io::OutputError("cannot write the table to standard output");
  }
  report.seconds.write = clock.lap();
  report.seconds.total = clock.total();
  log_seconds(report.seconds);
  if (!options.report.empty()) {
    io::AtomicFile file(options.report);
    io::write_report(file.stream(), report);
    file.commit();
  }
  return solution.converged ? ExitStatus::converged : ExitStatus::not_converged;
}

}  // namespace pagerank::app
