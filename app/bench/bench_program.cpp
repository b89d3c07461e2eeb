#include "app/bench/bench_program.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/bench/bench_options.hpp"
#include "app/bench/benchmarks.hpp"
#include "app/host_memory.hpp"
#include "app/logging.hpp"
#include "app/options.hpp"
#include "app/output_places.hpp"
#include "gpu/process.hpp"
#include "io/atomic_file.hpp"
#include "io/benchmark_report.hpp"
#include "io/graph_cache.hpp"
#include "io/graph_reader.hpp"
#include "io/input_error.hpp"
#include "io/matrix_market_writer.hpp"

namespace pagerank::app::bench {
namespace {

struct NamedGraph {
  std::string name;
  EdgeList edges;
};

NamedGraph load(const BenchOptions& options, const std::string& graph) {
  if (const auto recipe = parse_graph_spec(graph, options.generated)) {
    require_host_memory(recipe->links * 2 * sizeof(NodeId));
    return {describe(*recipe), generate_graph(*recipe, options.threads)};
  }
  if (io::is_graph_cache(graph)) {
    throw io::InputError(graph + ": graph caches hold no list of links, only load measures them");
  }
  io::ByteSource source(graph);
  const io::GraphFormat format = io::format_of(source, graph);
  return {graph,
          io::read_graph(source, format, options.source, {.threads = options.threads}).edges};
}

/// Nothing that is written may be in the place of a graph or of something else that is.
void require_places(const BenchOptions& options) {
  const std::array<std::pair<const char*, const std::string&>, 4> places = {
      {{"--json", options.json},
       {"--csv", options.csv},
       {"--plot", options.plot},
       {"--write", options.write}}};
  for (auto place = places.begin(); place != places.end(); ++place) {
    const auto& [option, path] = *place;
    require_place_for(option, path);
    for (const std::string& graph : options.graphs) {
      if (graph == "-" || parse_graph_spec(graph, options.generated)) continue;
      if (same_file(graph, path) || same_file(io::graph_cache_path(graph, {}), path)) {
        throw UsageError(std::string(option) + " would overwrite the graph " + graph +
                         " or its cache");
      }
    }
    for (auto other = places.begin(); other != place; ++other) {
      if (same_file(path, other->second)) {
        throw UsageError(std::string(other->first) + " and " + option + " name the same file");
      }
    }
    if (!path.empty()) io::AtomicFile file(path);
  }
}

/// What cannot be read or written is found before anything is measured for an hour.
void require_files(const BenchOptions& options) {
  for (const std::string& graph : options.graphs) {
    if (graph == "-" || parse_graph_spec(graph, options.generated)) continue;
    const bool there = std::filesystem::exists(graph);
    if (!there && graph.find_first_of("./") == std::string::npos) {
      std::string message = graph + ": neither a file nor a generated graph, expected one of";
      for (const GraphPreset& preset : graph_presets()) message.append(" ").append(preset.name);
      throw UsageError(message);
    }
    if (!there || std::filesystem::is_regular_file(graph)) io::ByteSource source(graph);
  }
  require_places(options);
}

template <class Write>
void write_file(const std::string& path, Write write) {
  if (path.empty()) return;
  io::AtomicFile file(path);
  write(file.stream());
  file.commit();
}

/// What a failure is called, and what it means.
ExitStatus report_failure(const std::exception& error) {
  const ExitStatus status = status_of(error);
  spdlog::error("{}{}", message_of(error),
                status == ExitStatus::bad_usage ? "; see pagerank-bench --help" : "");
  return status;
}

void measure_graph(const BenchOptions& options, const std::string& graph,
                   io::BenchmarkTable& table) {
  const bool is_file = !parse_graph_spec(graph, options.generated);
  if (options.benchmark == Benchmark::load && is_file && options.write.empty()) {
    run_load_benchmark(options, graph, graph, table);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  NamedGraph loaded = load(options, graph);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  spdlog::info("{}: {} nodes, {} entries, {:.2f} s", loaded.name, loaded.edges.node_count,
               loaded.edges.entry_count(), elapsed.count());
  write_file(options.write, [&](std::ostream& file) {
    io::write_matrix_market(file, loaded.edges, "pagerank-bench " + loaded.name, options.threads);
  });
  if (options.benchmark == Benchmark::none) return;
  if (options.benchmark == Benchmark::load) {
    // Never committed: gone when it has been measured, or the program is interrupted.
    io::AtomicFile file((std::filesystem::temp_directory_path() / "pagerank-bench.mtx").string(),
                        io::AtomicFile::Until::temporary_name);
    io::write_matrix_market(file.stream(), loaded.edges, "", options.threads);
    file.flush();
    loaded.edges = {};
    run_load_benchmark(options, file.written_path(), loaded.name, table);
    return;
  }
  require_host_memory(
      options.benchmark == Benchmark::reduce
          ? std::uint64_t{loaded.edges.node_count} * 2 * sizeof(double)
          : bytes_to_rank(loaded.edges.node_count,
                          loaded.edges.entry_count() * (loaded.edges.undirected ? 2 : 1),
                          loaded.edges.weighted()));
  run_benchmark(options, loaded.name, std::move(loaded.edges), table);
}

/// Measures one graph, adds its table to `tables` and prints it.
void run_graph(const BenchOptions& options, const std::string& graph,
               std::vector<io::BenchmarkTable>& tables, std::ostream& out) {
  io::BenchmarkTable table;
  const auto keep = [&] {
    if (table.rows.empty()) return;
    if (!tables.empty()) out << '\n';
    io::write_benchmark_text(out, table);
    out.flush();
    tables.push_back(std::move(table));
  };
  try {
    measure_graph(options, graph, table);
  } catch (...) {
    keep();  // hours of measurements, perhaps
    throw;
  }
  keep();
  if (!out) throw io::OutputError("cannot write the table to standard output");
}

/// Does it, and returns what an exception stands for, which is logged.
template <class Action>
ExitStatus attempt(Action action) {
  try {
    action();
    return ExitStatus::converged;
  } catch (const std::exception& error) {
    return report_failure(error);
  }
}

ExitStatus run(const BenchOptions& options, std::ostream& out) {
  if (options.device_reader) gpu::prefer_short_start();  // as pagerank does, where it reads
  require_device(options);
  require_files(options);
  std::vector<io::BenchmarkTable> tables;
  ExitStatus status = ExitStatus::converged;
  for (const std::string& graph : options.graphs) {
    status = worse(status, attempt([&] { run_graph(options, graph, tables, out); }));
    const bool only_text = options.json.empty() && options.csv.empty() && options.plot.empty();
    if (!out && only_text) break;  // nobody reads what is still to come
  }
  if (std::any_of(tables.begin(), tables.end(), any_wrong)) {
    status = worse(status, ExitStatus::failed);
  }
  // Results of an earlier run are better than none of this one.
  if (tables.empty() && status != ExitStatus::converged) return status;
  using Write = void (*)(std::ostream&, const std::vector<io::BenchmarkTable>&);
  for (const auto& [path, write] :
       {std::pair<const std::string*, Write>{&options.json, io::write_benchmark_json},
        {&options.csv, io::write_benchmark_csv},
        {&options.plot, io::write_benchmark_svg}}) {
    status = worse(status, attempt([&, path = path, write = write] {
                     write_file(*path, [&](std::ostream& file) { write(file, tables); });
                   }));
  }
  return status;
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
    return report_failure(error);
  }
}

}  // namespace pagerank::app::bench
