#include "app/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/command_line.hpp"
#include "app/output_places.hpp"
#include "io/graph_cache.hpp"

namespace pagerank::app {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

template <class Enum>
struct Named {
  const char* name;
  Enum value;
};

constexpr std::array<Named<EngineChoice>, 3> engines = {
    {{"auto", EngineChoice::automatic}, {"gpu", EngineChoice::gpu}, {"cpu", EngineChoice::cpu}}};
constexpr std::array<Named<ReaderChoice>, 3> readers = {{{"auto", ReaderChoice::automatic},
                                                         {"host", ReaderChoice::host},
                                                         {"device", ReaderChoice::device}}};
constexpr std::array<Named<io::GraphFormat>, 2> input_formats = {
    {{"mtx", io::GraphFormat::matrix_market}, {"edges", io::GraphFormat::edge_list}}};
constexpr std::array<Named<ProgressChoice>, 3> progress_choices = {
    {{"auto", ProgressChoice::automatic},
     {"always", ProgressChoice::always},
     {"never", ProgressChoice::never}}};
constexpr std::array<Named<SourceIndex>, 2> sources = {
    {{"row", SourceIndex::row}, {"column", SourceIndex::column}}};
constexpr std::array<Named<Precision>, 3> precisions = {
    {{"double", Precision::float64}, {"mixed", Precision::mixed}, {"float", Precision::float32}}};
constexpr std::array<Named<DanglingPolicy>, 2> policies = {
    {{"teleport", DanglingPolicy::teleport}, {"error", DanglingPolicy::error}}};

template <class Table, class Enum>
const char* name_in(const Table& table, Enum value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  return "?";
}

/// `others`: names that are not in the table, for the message.
template <class Table>
auto value_in(const Table& table, const std::string& option, const std::string& name,
              std::string others = {}) {
  for (const auto& row : table) {
    if (name == row.name) return row.value;
    others += (others.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError(option + ": there is no '" + name + "', expected one of " + others);
}

po::options_description visible_options() {
  const auto text = [](const char* name, const char* preset) {
    auto* value = po::value<std::string>()->value_name(name);
    return *preset != '\0' ? value->default_value(preset) : value;
  };
  const auto number = [](const char* name, std::int64_t preset) {
    return po::value<std::int64_t>()->value_name(name)->default_value(preset);
  };
  po::options_description input("input"), model("model"), solver("solver"), output("output"),
      other("other"), all;
  input.add_options()  //
      ("input-format", text("F", "auto"),
       "mtx (Matrix Market), edges (an edge list: lines 'FROM TO' or 'FROM TO WEIGHT'), or auto: "
       "by "
       "the file's first line and its name")  //
      ("source", text("INDEX", "row"),
       "which index of an entry (i, j), or a line 'i j', is the link's source: row (a link from i "
       "to j) or column")  //
      ("reader", text("R", "auto"),
       "who parses the text: host, or device (the GPU); auto: the GPU where it ranks a file of "
       "12 MiB and more for each core, neither compressed nor to be cached, with not far more "
       "nodes than links")  //
      ("assignment", po::bool_switch(),
       "the classroom PageRank assignment: --source column --dangling error")  //
      ("cache", po::bool_switch(),
       "keep the graph as read in GRAPH.prgraph, from where the next run takes it many times "
       "faster "
       "as long as GRAPH is the same")  //
      ("cache-dir", text("DIR", ""), "the same, but in DIR");
  model.add_options()  //
      ("alpha", po::value<double>()->value_name("A")->default_value(0.85, "0.85"),
       "damping factor, 0 <= A < 1")  //
      ("dangling", text("POLICY", "teleport"),
       "rank of nodes without out-links: teleport (spread over all nodes) or error (refuse)");
  solver.add_options()  //
      ("engine", text("ENGINE", "auto"),
       "auto (the GPU if one can be used, else the CPU), gpu or cpu")   //
      ("device", number("N", 0), "the GPU to use, see --list-devices")  //
      ("gpu-memory", text("BYTES", "0"),
       "as much of the GPU's memory may be taken for the graph, as 500M or 40G (powers of 1024); "
       "0: all that is free")                                                        //
      ("kernel", text("NAME", "auto"), "the GPU's SpMV kernel, see --list-kernels")  //
      ("threads", number("N", 0),
       "threads of reading, the graph build and the CPU engine, 0: all cores")  //
      ("precision", text("P", "auto"),
       "iterate in double, float, or mixed: in float, with double's result; auto: mixed "
       "where it is faster than double")  //
      ("tolerance", po::value<double>()->value_name("T"),
       "stop when the scores are certain to be within T of the exact ones (L1 distance); 1e-8, "
       "with --precision float 1e-5")  //
      ("max-iterations", number("N", 1000), "give up after N iterations: written, exit status 4");
  output.add_options()                                                       //
      ("top", number("K", 10), "print the K highest ranked nodes, 0: none")  //
      ("output", text("FILE", ""),
       "write all scores; .tsv .csv .json: ranked rows, .mtx .npy: a vector in node order")  //
      ("output-dir", text("DIR", ""),
       "write the scores of each GRAPH into DIR, which must be there")                           //
      ("format", text("F", ""), "format for --output-dir (tsv), or --output whatever its name")  //
      ("report", text("FILE", ""), "write what was done and how well, as JSON")                  //
      ("progress", text("WHEN", "auto"),
       "show how far reading and solving are: auto (on a terminal, without --quiet and --verbose), "
       "always or never")                                                         //
      ("quiet", po::bool_switch(), "only warnings and errors on standard error")  //
      ("verbose", po::bool_switch(), "every iteration on standard error");
  other.add_options()                                         //
      ("help", po::bool_switch(), "this text")                //
      ("version", po::bool_switch(), "the version")           //
      ("list-kernels", po::bool_switch(), "the GPU kernels")  //
      ("list-devices", po::bool_switch(), "the GPUs");
  all.add(input).add(model).add(solver).add(output).add(other);
  return all;
}

std::string text_of(const po::variables_map& given, const char* name) {
  return given.count(name) > 0 ? given[name].as<std::string>() : std::string();
}

Options::Action action_of(const po::variables_map& given) {
  using Action = Options::Action;
  for (const auto& [name, action] : {std::pair{"help", Action::help},
                                     {"version", Action::version},
                                     {"list-kernels", Action::list_kernels},
                                     {"list-devices", Action::list_devices}}) {
    if (given[name].as<bool>()) return action;
  }
  return Action::rank;
}

void read_model(const po::variables_map& given, Options& options) {
  if (text_of(given, "input-format") != "auto") {
    options.input_format =
        value_in(input_formats, "--input-format", text_of(given, "input-format"), "auto");
  }
  options.assignment = given["assignment"].as<bool>();
  options.source = value_in(sources, "--source", text_of(given, "source"));
  options.source_is_given = options.assignment || !given["source"].defaulted();
  options.problem.dangling = value_in(policies, "--dangling", text_of(given, "dangling"));
  if (options.assignment) {
    const auto contradicts = [&](const char* name, bool differs) {
      if (!given[name].defaulted() && differs) {
        throw UsageError("--assignment and --" + std::string(name) + " contradict each other");
      }
    };
    contradicts("source", options.source != SourceIndex::column);
    contradicts("dangling", options.problem.dangling != DanglingPolicy::error);
    options.source = SourceIndex::column;
    options.problem.dangling = DanglingPolicy::error;
  }
  options.problem.alpha = given["alpha"].as<double>();
  if (!(options.problem.alpha >= 0 && options.problem.alpha < 1)) {
    throw UsageError("--alpha: expected a number of at least 0 and below 1");
  }
}

void read_solver(const po::variables_map& given, Options& options) {
  constexpr std::int64_t most_int = std::numeric_limits<int>::max();
  options.engine = value_in(engines, "--engine", text_of(given, "engine"));
  options.device = static_cast<int>(whole_number(given, "device", 0, most_int));
  options.gpu_memory = byte_count(given, "gpu-memory");
  options.kernel = text_of(given, "kernel");
  options.reader = value_in(readers, "--reader", text_of(given, "reader"));
  if (options.reader == ReaderChoice::device) {
    if (options.engine == EngineChoice::cpu) {
      throw UsageError("--reader device leaves the graph on the GPU, --engine cpu needs it here");
    }
    if (options.cache) {
      throw UsageError("--reader device leaves the graph on the GPU, --cache needs it here");
    }
  }
  if (options.engine == EngineChoice::cpu && options.kernel != "auto") {
    throw UsageError("--kernel chooses among the GPU's kernels, --engine cpu has none");
  }
  options.threads = static_cast<int>(whole_number(given, "threads", 0, 4096));
  if (text_of(given, "precision") != "auto") {
    options.precision = value_in(precisions, "--precision", text_of(given, "precision"), "auto");
  }
  // Rounding alone can keep the certificate of a float iteration at a few 1e-6.
  options.tolerance = options.precision == Precision::float32 ? 1e-5 : 1e-8;
  if (given.count("tolerance") > 0) options.tolerance = given["tolerance"].as<double>();
  if (!(options.tolerance > 0 && std::isfinite(options.tolerance))) {
    throw UsageError("--tolerance: expected a number above 0");
  }
  options.max_iterations = static_cast<std::uint32_t>(whole_number(
      given, "max-iterations", 1, std::int64_t{std::numeric_limits<std::uint32_t>::max()}));
}

std::string extension_of(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  return extension.empty() ? extension : extension.substr(1);
}

void read_output(const po::variables_map& given, Options& options) {
  options.top = static_cast<std::size_t>(
      whole_number(given, "top", 0, std::numeric_limits<std::int64_t>::max()));
  options.output = text_of(given, "output");
  options.output_dir = text_of(given, "output-dir");
  options.report = text_of(given, "report");
  options.progress = value_in(progress_choices, "--progress", text_of(given, "progress"));
  options.quiet = given["quiet"].as<bool>();
  options.verbose = given["verbose"].as<bool>();
  if (options.quiet && options.verbose) {
    throw UsageError("--quiet and --verbose contradict each other");
  }
  if (!options.output.empty() && !options.output_dir.empty()) {
    throw UsageError("--output and --output-dir contradict each other");
  }

  const std::string format = text_of(given, "format");
  if (!format.empty()) {
    options.format = io::score_format_named(format);
    if (!options.format) {
      throw UsageError("--format: there is no '" + format +
                       "', expected one of tsv, csv, json, mtx, npy");
    }
    if (options.output.empty() && options.output_dir.empty()) {
      throw UsageError("--format needs --output or --output-dir");
    }
  } else if (!options.output.empty()) {
    options.format = io::score_format_named(extension_of(options.output));
    if (!options.format) {
      throw UsageError("--output: the name ends in none of .tsv .csv .json .mtx .npy: " +
                       options.output);
    }
  }
  require_place_for("--output", options.output);
  require_place_for("--report", options.report);
  if (!options.output_dir.empty()) require_directory("--output-dir", options.output_dir);
  if (same_file(options.output, options.report)) {
    throw UsageError("--output and --report name the same file");
  }
}

void read_cache(const po::variables_map& given, Options& options) {
  options.cache_dir = text_of(given, "cache-dir");
  options.cache = given["cache"].as<bool>() || !options.cache_dir.empty();
  if (given.count("cache-dir") > 0 && options.cache_dir.empty()) {
    throw UsageError("--cache-dir: no directory was given");
  }
  if (!options.cache_dir.empty()) require_directory("--cache-dir", options.cache_dir);
}

/// What holds between the graphs and where their results go.
void check_graphs(const Options& options) {
  if (options.graphs.empty()) throw UsageError("no GRAPH was given");
  if (options.graphs.size() > 1 && !(options.output.empty() && options.report.empty())) {
    throw UsageError("--output and --report take one GRAPH; use --output-dir for several");
  }
  if (std::count(options.graphs.begin(), options.graphs.end(), "-") > 1) {
    throw UsageError("standard input (-) can be read only once");
  }
  std::set<std::string> outputs;
  for (const std::string& graph : options.graphs) {
    const std::string output = options.output_path(graph);
    std::error_code unknown;
    const fs::path place = fs::weakly_canonical(output, unknown);
    if (!output.empty() && !outputs.insert(unknown ? output : place.string()).second) {
      throw UsageError("two graphs would be written to " + output);
    }
  }
  std::set<std::string> all_written = outputs;
  all_written.insert(options.report);
  for (const std::string& graph : options.graphs) {
    if (graph == "-") continue;
    for (const std::string& written : all_written) {
      if (same_file(graph, written)) {
        throw UsageError("the result would overwrite the graph " + graph);
      }
      if (options.cache && same_file(io::graph_cache_path(graph, options.cache_dir), written)) {
        throw UsageError("the result would overwrite the cache of " + graph);
      }
    }
  }
}

}  // namespace

std::string Options::output_path(const std::string& graph) const {
  if (output_dir.empty()) return output;
  fs::path name = graph == "-" ? "stdin" : fs::path(graph).filename();
  if (name.extension() == ".prgraph") name.replace_extension();
  name = io::without_gz(name);
  if (io::format_by_name(name)) name.replace_extension();
  constexpr std::array extensions = {".tsv", ".csv", ".json", ".mtx", ".npy"};
  name += extensions.at(static_cast<std::size_t>(output_format()));
  return (fs::path(output_dir) / name).string();
}

io::ScoreFormat Options::output_format() const {
  return format.value_or(io::ScoreFormat::tsv);
}

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(visible_options(), "graph", argc, argv);
  Options options;
  options.action = action_of(given);
  if (options.action != Options::Action::rank) return options;
  if (given.count("graph") > 0) options.graphs = given["graph"].as<std::vector<std::string>>();
  read_cache(given, options);
  read_model(given, options);
  read_solver(given, options);
  read_output(given, options);
  check_graphs(options);
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text
      << "pagerank [options] GRAPH...\n\n"
         "Ranks the nodes of web and social graphs by PageRank. GRAPH is a Matrix Market file\n"
         "(.mtx) or an edge list (.txt, .el, .wel, .tsv, .edges, .edgelist), plain or gzip (.gz),\n"
         "a graph that --cache kept (.prgraph), or - for standard input.\n"
      << visible_options()
      << "\nexit status: 0 converged, 2 bad usage, 3 bad input, 4 written but not converged,\n"
         "5 the machine cannot do it, 1 anything else; of several graphs, the worst. 129, 130,\n"
         "143: stopped by a signal.\n";
  return text.str();
}

const char* name_of(EngineChoice engine) {
  return name_in(engines, engine);
}
const char* name_of(ReaderChoice reader) {
  return name_in(readers, reader);
}
const char* name_of(io::GraphFormat format) {
  return name_in(input_formats, format);
}
const char* name_of(SourceIndex source) {
  return name_in(sources, source);
}
const char* name_of(Precision precision) {
  return name_in(precisions, precision);
}
const char* name_of(DanglingPolicy policy) {
  return name_in(policies, policy);
}

}  // namespace pagerank::app
