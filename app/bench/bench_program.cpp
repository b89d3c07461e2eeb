#include "app/bench/bench_program.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <new>

#include "app/bench/bench_options.hpp"
#include "app/bench/benchmarks.hpp"
#include "app/logging.hpp"
#include "io/atomic_file.hpp"
#include "io/benchmark_report.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/matrix_market_writer.hpp"

namespace pagerank::app::bench {
namespace {

struct NamedGraph {
  std::string name;
  EdgeList edges;
};

NamedGraph load(const BenchOptions& options, const std::string& graph) {
  if (const auto recipe = parse_graph_spec(graph, options.generated)) {
    return {describe(*recipe), generate_graph(*recipe, options.threads)};
  }
  io::ByteSource source(graph);
  return {graph, io::read_matrix_market(source, options.source).edges};
}

template <class Write>
void write_file(const std::string& path, Write write) {
  if (path.empty()) return;
  io::AtomicFile file(path);
  write(file.stream());
  file.commit();
}

ExitStatus run(const BenchOptions& options, std::ostream& out) {
  require_device(options);
  std::vector<io::BenchmarkTable> tables;
  bool wrong = false;
  for (const std::string& graph : options.graphs) {
    const auto begin = std::chrono::steady_clock::now();
    NamedGraph loaded = load(options, graph);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    spdlog::info("{}: {} nodes, {} entries, {:.2f} s", loaded.name, loaded.edges.node_count,
                 loaded.edges.entry_count(), elapsed.count());
    write_file(options.write, [&](std::ostream& file) {
      io::write_matrix_market(file, loaded.edges, "pagerank-bench " + loaded.name, options.threads);
    });
    if (options.benchmark == Benchmark::none) continue;
    tables.push_back(run_benchmark(options, loaded.name, std::move(loaded.edges)));
    wrong = wrong || any_wrong(tables.back());
    if (tables.size() > 1) out << '\n';
    io::write_benchmark_text(out, tables.back());
    out.flush();
    if (!out) throw io::OutputError("cannot write the table to standard output");
  }
  write_file(options.json, [&](std::ostream& file) { io::write_benchmark_json(file, tables); });
  write_file(options.csv, [&](std::ostream& file) { io::write_benchmark_csv(file, tables); });
  write_file(options.plot, [&](std::ostream& file) { io::write_benchmark_svg(file, tables); });
  return wrong ? ExitStatus::failed : ExitStatus::converged;
}

}  // namespace

ExitStatus run_bench(int argc, const char* const* argv, std::ostream& out) {
  start_logging("pagerank-bench");
  try {
    const BenchOptions options = parse_bench_options(argc, argv);
    switch (options.action) {
      case BenchOptions::Action::help:
        out << bench_help_text();
        break;
      case BenchOptions::Action::version:
        out << "pagerank-bench " << PAGERANK_VERSION << '\n';
        break;
      case BenchOptions::Action::run:
        return run(options, out);
    }
    return ExitStatus::converged;
  } catch (const std::exception& error) {
    const ExitStatus status = status_of(error);
    spdlog::error(
        "{}{}",
        dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "not enough memory" : error.what(),
        status == ExitStatus::bad_usage ? "; see pagerank-bench --help" : "");
    return status;
  }
}

}  // namespace pagerank::app::bench
