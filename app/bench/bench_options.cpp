#include "app/bench/bench_options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include "app/command_line.hpp"
#include "app/options.hpp"
#include "gpu/benchmark.hpp"

namespace pagerank::app::bench {
namespace {

namespace po = boost::program_options;

constexpr std::array<std::pair<const char*, Benchmark>, 5> benchmarks = {
    {{"spmv", Benchmark::spmv},
     {"solve", Benchmark::solve},
     {"reduce", Benchmark::reduce},
     {"load", Benchmark::load},
     {"build", Benchmark::build}}};

po::options_description visible_options() {
  const auto file = [] { return po::value<std::string>()->value_name("FILE"); };
  const auto number = [](const char* name, std::int64_t preset) {
    return po::value<std::int64_t>()->value_name(name)->default_value(preset);
  };
  const auto real = [](const char* name, double preset, const char* text) {
    return po::value<double>()->value_name(name)->default_value(preset, text);
  };
  const auto text = [](const char* name, const char* preset) {
    return po::value<std::string>()->value_name(name)->default_value(preset);
  };
  po::options_description graph("graph"), measure("measurement"), output("output"), other("other"),
      all;
  graph.add_options()                                                                //
      ("scale", number("S", 22), "generated graphs have 2^S nodes")                  //
      ("links", number("L", 16), "and L links a node")                               //
      ("seed", number("N", 1), "their random numbers")                               //
      ("scramble", po::bool_switch(), "renumber their nodes at random")              //
      ("symmetric", po::bool_switch(), "every generated link counts both ways")      //
      ("weighted", po::bool_switch(), "generated links have weights of 0.001 to 1")  //
      ("source", text("INDEX", "row"), "the link's source in files, row or column");
  measure.add_options()                                                        //
      ("precision", text("P", "float"), "float or double; solve: also mixed")  //
      ("kernel", po::value<std::vector<std::string>>()->value_name("NAME"),
       "only this kernel or reduction; solve: also auto, cpu, cpu:plain and cpu:blocked (its "
       "layouts; cpu alone: the one it chooses); may be repeated")                          //
      ("seconds", real("T", 0.3, "0.3"), "measured time of each row")                       //
      ("alpha", real("A", 0.85, "0.85"), "damping factor of solve")                         //
      ("tolerance", real("T", 1e-6, "1e-6"), "certified tolerance of solve")                //
      ("solves", number("N", 1), "solves by each engine of solve, as kernel auto reckons")  //
      ("loop", text("WHERE", "device"), "where solve decides to go on: device or host")     //
      ("reader", text("R", "host"),
       "load: host, or device: the GPU's reader too, and the bus beside it")  //
      ("gpu-memory", text("BYTES", "0"),
       "solve and load: as much of the GPU's memory may be taken, as 500M or 40G; 0: all that is "
       "free")                                      //
      ("device", number("N", 0), "the GPU to use")  //
      ("threads", number("N", 0),
       "threads of generators, reading, builds and the CPU engine, 0: all cores");
  output.add_options()                                           //
      ("json", file(), "write all tables as JSON")               //
      ("csv", file(), "write all tables as CSV")                 //
      ("plot", file(), "write bar charts and rooflines as SVG")  //
      ("write", file(), "write the (one) graph as a Matrix Market file");
  other.add_options()("help", po::bool_switch(), "this text")  //
      ("version", po::bool_switch(), "the version");
  return all.add(graph).add(measure).add(output).add(other);
}

double number_below(const po::variables_map& given, const char* name, double limit,
                    bool zero_too = false) {
  const auto value = given[name].as<double>();
  if (!((zero_too ? value >= 0 : value > 0) && value < limit)) {
    throw UsageError("--" + std::string(name) + ": expected a number " +
                     (zero_too ? "from 0 to below " : "above 0 and below ") +
                     (std::isinf(limit) ? "infinity" : std::to_string(std::lround(limit))));
  }
  return value;
}

/// Whether the option says the second of its two words.
bool says_second(const po::variables_map& given, const char* name, const char* first,
                 const char* second) {
  const auto& value = given[name].as<std::string>();
  if (value != first && value != second) {
    throw UsageError("--" + std::string(name) + ": expected " + first + " or " + second +
                     ", found '" + value + "'");
  }
  return value == second;
}

Precision precision_of(const po::variables_map& given, Benchmark benchmark) {
  if (benchmark == Benchmark::solve && given["precision"].as<std::string>() == "mixed") {
    return Precision::mixed;
  }
  return says_second(given, "precision", "float", "double") ? Precision::float64
                                                            : Precision::float32;
}

void read_arguments(const po::variables_map& given, BenchOptions& options) {
  if (given.count("argument") > 0) {
    options.graphs = given["argument"].as<std::vector<std::string>>();
  }
  if (!options.graphs.empty()) {
    for (const auto& [name, benchmark] : benchmarks) {
      if (options.graphs.front() == name) options.benchmark = benchmark;
    }
    if (options.benchmark != Benchmark::none) options.graphs.erase(options.graphs.begin());
  }
  if (options.benchmark == Benchmark::none && options.write.empty()) {
    throw UsageError("expected spmv, solve, reduce, load or build first, or --write");
  }
  if (options.graphs.empty()) throw UsageError("no GRAPH was given");
  if (!options.write.empty() && options.graphs.size() > 1) {
    throw UsageError("--write takes one GRAPH");
  }
  if (options.write.ends_with(".gz")) throw UsageError("--write: compressed files are not written");
  if (options.device_reader && options.benchmark != Benchmark::load) {
    throw UsageError("--reader device is for load");
  }
  for (const std::string& graph : options.graphs) {
    (void)parse_graph_spec(graph, options.generated);  // early: no run is lost to a misspelling
  }
}

void require_known_kernels(const BenchOptions& options) {
  std::set<std::string_view> known;
  if (options.benchmark == Benchmark::reduce) {
    for (const gpu::Kernel& kernel : gpu::reductions()) known.insert(kernel.name);
  } else {
    for (const gpu::Kernel& kernel : gpu::kernels()) known.insert(kernel.name);
  }
  if (options.benchmark == Benchmark::solve) {
    known.insert("auto");
    for (const auto& [name, layout] : cpu_kernels) known.insert(name);
  }
  if (known.empty()) return;  // no CUDA: that is said when the benchmark runs
  for (const std::string& name : options.kernels) {
    if (known.count(name) > 0) continue;
    std::string message = "--kernel: there is no '" + name + "', expected one of";
    for (const std::string_view one : known) message.append(" ").append(one);
    throw UsageError(message);
  }
}

}  // namespace

bool asked_for(const BenchOptions& options, std::string_view kernel) {
  return options.kernels.empty() ||
         std::find(options.kernels.begin(), options.kernels.end(), kernel) != options.kernels.end();
}

bool is_cpu_kernel(std::string_view kernel) {
  return std::any_of(cpu_kernels.begin(), cpu_kernels.end(),
                     [&](const auto& one) { return one.first == kernel; });
}

bool asks_for_cpu(const BenchOptions& options) {
  return options.kernels.empty() ||
         std::any_of(options.kernels.begin(), options.kernels.end(), is_cpu_kernel);
}

const char* name_of(Benchmark benchmark) {
  for (const auto& [name, value] : benchmarks) {
    if (value == benchmark) return name;
  }
  return "none";
}

BenchOptions parse_bench_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(visible_options(), "argument", argc, argv);
  BenchOptions options;
  if (given["help"].as<bool>()) options.action = BenchOptions::Action::help;
  if (given["version"].as<bool>()) options.action = BenchOptions::Action::version;
  if (options.action != BenchOptions::Action::run) return options;

  options.generated = {
      .scale = static_cast<int>(whole_number(given, "scale", 0, 31)),
      .links = static_cast<std::uint64_t>(whole_number(given, "links", 1, 1'000'000)),
      .seed = static_cast<std::uint64_t>(whole_number(given, "seed", 0, INT64_MAX)),
      .scramble = given["scramble"].as<bool>(),
      .symmetric = given["symmetric"].as<bool>(),
      .weighted = given["weighted"].as<bool>()};
  options.source =
      says_second(given, "source", "row", "column") ? SourceIndex::column : SourceIndex::row;
  options.device = static_cast<int>(whole_number(given, "device", 0, 4096));
  options.gpu_memory = byte_count(given, "gpu-memory");
  options.threads = static_cast<int>(whole_number(given, "threads", 0, 4096));
  if (given.count("kernel") > 0) {
    options.kernels = given["kernel"].as<std::vector<std::string>>();
  }
  options.seconds = number_below(given, "seconds", 3600);
  options.alpha = number_below(given, "alpha", 1, true);
  options.tolerance = number_below(given, "tolerance", INFINITY);
  options.device_loop = !says_second(given, "loop", "device", "host");
  options.device_reader = says_second(given, "reader", "host", "device");
  for (const auto& [name, file] : {std::pair{"json", &options.json},
                                   {"csv", &options.csv},
                                   {"plot", &options.plot},
                                   {"write", &options.write}}) {
    if (given.count(name) > 0) *file = given[name].as<std::string>();
  }
  read_arguments(given, options);
  options.precision = precision_of(given, options.benchmark);
  options.solves = static_cast<std::uint32_t>(whole_number(given, "solves", 1, 1'000'000));
  require_known_kernels(options);
  return options;
}

std::string bench_help_text() {
  std::ostringstream text;
  text << "pagerank-bench spmv|solve|reduce|load|build [options] GRAPH...\n"
          "pagerank-bench --write FILE.mtx [options] GRAPH\n\n"
          "Times every kernel on each GRAPH, a Matrix Market file, an edge list (.txt, .el, .wel,\n"
          ".tsv, .edges, .edgelist) or a graph that it makes,\n"
          "NAME[:SCALExLINKS][:seed=N][:scramble][:symmetric][:weighted]:\n\n";
  for (const GraphPreset& preset : graph_presets()) {
    constexpr std::size_t width = 14;
    text << "  " << preset.name << std::string(width - preset.name.size(), ' ') << preset.text
         << '\n';
  }
  text
      << "\nspmv: one multiplication, without stored values and with them. solve: a whole "
         "PageRank\n"
         "to the certified tolerance, the CPU engine too. reduce: the L1 norm of a vector with as\n"
         "many elements as GRAPH has nodes. A kernel whose result is wrong gets no time. spmv and\n"
         "reduce need a GPU. load: from a file to the matrix, against reading the file, memory, "
         "and\n"
         "counting lines, or decompressing; from GRAPH.prgraph too, if pagerank --cache left one,\n"
         "or from such a file.\n"
         "--reader device: by the GPU too, against what the bus carries in the same run.\n"
         "build: from an edge list to the matrix, against reading memory.\n"
      << visible_options()
      << "\nexit status: 0 done, 1 a kernel's result was wrong or one cannot be written, 2 bad\n"
         "usage, 3 bad input, 5 the machine cannot do it, 129, 130, 143 stopped by a signal.\n";
  return text.str();
}

}  // namespace pagerank::app::bench
