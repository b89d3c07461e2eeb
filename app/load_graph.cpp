#include "app/load_graph.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "app/cpu_engine_options.hpp"
#include "app/exit_status.hpp"
#include "app/host_memory.hpp"
#include "app/text_source.hpp"
#include "core/threads.hpp"
#include "gpu/pagerank.hpp"
#include "io/atomic_file.hpp"
#include "io/graph_cache.hpp"
#include "io/graph_reader.hpp"
#include "io/input_error.hpp"

namespace pagerank::app {
namespace {

/// The format that was asked for, or that the file says it has, if it says so.
std::optional<io::GraphFormat> stated_format(const Options& options, io::ByteSource& source,
                                             const std::string& path) {
  return options.input_format ? options.input_format : io::stated_format(source, path);
}

/// Opens a graph of that format; of Matrix Market's, which has a banner, where none is stated.
io::GraphReader open_graph(const Options& options, io::ByteSource& source,
                           std::optional<io::GraphFormat> stated) {
  try {
    const io::GraphFormat format = stated.value_or(io::GraphFormat::matrix_market);
    return {source, format, {.threads = options.threads}};
  } catch (const io::ParseError& error) {
    if (stated || error.fault() != io::ParseFault::bad_banner) throw;
    throw io::InputError(error.what() + std::string("; an edge list needs --input-format edges"));
  }
}

/// How far reading is, for people.
std::string bytes_read(const io::ByteSource& source) {
  constexpr double mega = 1e6;
  const auto taken = static_cast<double>(source.bytes_taken());
  if (!source.bytes_to_take())
    return fmt::format("reading {}: {:.1f} MB", source.name(), taken / mega);
  const auto all = static_cast<double>(*source.bytes_to_take());
  return fmt::format("reading {}: {:.0f} %, {:.1f} of {:.1f} MB {}", source.name(),
                     std::min(100.0, 100 * taken / all), taken / mega, all / mega,
                     progress_bar(taken / all));
}

/// Before anything is asked of the source: of a pipe the first block may be long in coming.
std::optional<ProgressStep> begin_to_read(const io::ByteSource& source, ProgressDisplay& progress) {
  return std::optional<ProgressStep>(std::in_place, progress,
                                     [&source] { return bytes_read(source); });
}

/// Of a file that is not read now.
io::GraphFormat text_format(const Options& options, const std::string& path) {
  if (options.input_format) return *options.input_format;
  io::ByteSource source(path);
  return io::format_of(source, path);
}

/// Whether the GPU would have a file in its layout sooner. The host reads and builds while the
/// context is created, for nothing as it were, but of large files more than that (measured:
/// docs/notebook/reading.md). Not of streams, which could not be read again by the host, nor of
/// compressed text, where all wait for zlib.
bool device_is_faster(const Options& options, const io::ByteSource& source) {
  constexpr std::uint64_t bytes_a_core = std::uint64_t{12} << 20;
  const auto cores = static_cast<std::uint64_t>(thread_count(options.threads));
  return source.size() && *source.size() >= bytes_a_core * cores;
}

/// Has the GPU read the text and build the matrix, which stays there. Unset if nobody asked for
/// that and the host's matrix would be much smaller.
std::optional<LoadedGraph> read_on_device(const Options& options, const std::string& path,
                                          PhaseClock& clock, ProgressDisplay& progress,
                                          io::Report& report) {
  io::ByteSource source(path);
  std::optional<ProgressStep> reading = begin_to_read(source, progress);
  io::GraphReader reader = open_graph(options, source, stated_format(options, source, path));
  if (reader.hardly_linked() && options.reader != ReaderChoice::device) return {};
  const std::unique_ptr<gpu::EntrySource> entries = text_source(reader);
  gpu::DeviceReader device(
      *entries,
      {.device = options.device, .threads = options.threads, .memory_limit = options.gpu_memory});
  const double before = clock.so_far();  // which is of waking the GPU, too, or beside that
  device.read();
  reading.reset();
  report.seconds.read = clock.lap();
  report.seconds.context = before + device.context_seconds();
  report.seconds.stream = device.stream_seconds();
  report.reader = name_of(ReaderChoice::device);
  report.graph.format = name_of(reader.format());
  report.graph.source = name_of(options.source);
  report.graph.entries = device.entry_count();
  report.graph.symmetric = reader.symmetric();
  const ProgressStep step(progress,
                          [&source] { return "building the matrix of " + source.name(); });
  LoadedGraph graph{.matrix = {},
                    .blocked_matrix = {},
                    .device_matrix = device.build(options.source),
                    .labels = device.take_labels()};
  report.seconds.build = clock.lap();
  const gpu::DeviceMatrix& matrix = *graph.device_matrix;
  report.graph.nodes = matrix.node_count();
  report.graph.links = matrix.distinct_links();
  report.graph.dangling = matrix.dangling_count();
  report.graph.weighted = matrix.weighted();
  return graph;
}

/// A graph of a text, as a cache would have it; its matrix is empty if links are laid out.
struct TextGraph {
  io::CachedGraph graph;
  std::optional<BlockedMatrix> blocked;
};

/// `lay_out`: if the CPU engine would.
TextGraph read_text(const Options& options, const std::string& path, bool lay_out,
                    PhaseClock& clock, ProgressDisplay& progress, io::Report& report) {
  io::ByteSource source(path);
  std::optional<ProgressStep> reading = begin_to_read(source, progress);
  io::GraphReader reader = open_graph(options, source, stated_format(options, source, path));
  require_host_memory(reader.expected_bytes());
  reader.read(options.source);
  reading.reset();
  // What a GPU took in vain, to build the matrix too, is part of reading.
  report.seconds.read += clock.lap() + std::exchange(report.seconds.build, 0);
  report.seconds.context = report.seconds.stream = 0;
  report.reader = name_of(ReaderChoice::host);
  // Only now: what is wrong with the file comes first.
  require_host_memory(bytes_to_rank(reader.node_count(), reader.link_count(), reader.weighted()));
  TextGraph text{.graph = {.info = {.format = reader.format(),
                                    .source_index = options.source,
                                    .symmetric = reader.symmetric(),
                                    .entries = reader.entry_count()}},
                 .blocked = {}};
  const ProgressStep step(progress,
                          [&source] { return "building the matrix of " + source.name(); });
  text.graph.labels = reader.take_labels();
  // (Of hardly linked graphs the number of links is not known yet.)
  if (lay_out && !reader.hardly_linked()) {
    const bool labelled = !text.graph.labels.empty();
    auto built =
        reader.build_for(cpu_engine_options(options, reader.link_count(), labelled).layout_wish());
    if (auto* const blocked = std::get_if<BlockedMatrix>(&built)) {
      text.blocked = std::move(*blocked);
      spdlog::debug("links were laid out for the CPU engine as they were sorted");
    } else {
      text.graph.matrix = std::get<TransitionMatrix>(std::move(built));
    }
  } else {
    text.graph.matrix = reader.build();
  }
  report.seconds.build = clock.lap();
  return text;
}

io::CachedGraph read_cache(const Options& options, const std::string& path,
                           const io::GraphCache& cache, PhaseClock& clock,
                           ProgressDisplay& progress, io::Report& report) {
  require_host_memory(bytes_to_rank(cache.node_count(), 0, false));  // links stay in the file
  const ProgressStep step(progress, [&path] { return "checking " + path; });
  io::CachedGraph graph = cache.load(options.threads);
  report.seconds.read = clock.lap();
  return graph;
}

/// A graph cache as GRAPH. It was built one way; options may not ask for another.
io::CachedGraph read_given_cache(const Options& options, const std::string& path, PhaseClock& clock,
                                 ProgressDisplay& progress, io::Report& report) {
  if (options.reader == ReaderChoice::device) {
    throw UsageError(path + ": a graph cache is no text, --reader device reads nothing else");
  }
  const io::GraphCache cache(path);
  const SourceIndex source = cache.info().source_index;
  if (options.source_is_given && options.source != source) {
    throw UsageError(path + ": this graph cache was made with --source " + name_of(source) +
                     ", which " + (options.assignment ? "--assignment" : "--source") +
                     " contradicts");
  }
  const io::GraphFormat format = cache.info().format;
  if (options.input_format && *options.input_format != format) {
    throw UsageError(path + ": this graph cache was made of a text in format " + name_of(format) +
                     ", which --input-format contradicts");
  }
  report.graph.cache = path;
  return read_cache(options, path, cache, clock, progress, report);
}

/// The graph from a cache that an earlier run left, if there is one and it is of this text, as it
/// is now, read the same way.
std::optional<io::CachedGraph> read_kept_cache(const Options& options,
                                               const std::string& graph_path,
                                               const std::string& path,
                                               const io::SourceStamp& stamp, PhaseClock& clock,
                                               ProgressDisplay& progress, io::Report& report) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};  // of others keep() warns
  try {
    const io::GraphCache cache(path);
    const io::GraphCacheInfo& info = cache.info();
    if (info.stamp != stamp) {
      spdlog::info("{}: the graph has changed since, it is made anew", path);
    } else if (info.source_index != options.source) {
      spdlog::info("{}: made with --source {}, it is made anew", path, name_of(info.source_index));
    } else if (text_format(options, graph_path) != info.format) {
      spdlog::info("{}: made of a text in format {}, it is made anew", path, name_of(info.format));
    } else {
      io::CachedGraph graph = read_cache(options, path, cache, clock, progress, report);
      report.graph.cache = path;
      return graph;
    }
  } catch (const io::InputError& error) {
    spdlog::warn("{}; it is made anew", error.what());
  }
  return {};
}

void keep(const Options& options, const std::string& graph_path, const std::string& cache_path,
          const io::CachedGraph& graph, ProgressDisplay& progress) {
  if (io::source_stamp(graph_path) != graph.info.stamp) {
    spdlog::warn("{}: changed while it was read, it is not cached", graph_path);
    return;
  }
  std::error_code unknown;
  const auto there = std::filesystem::status(cache_path, unknown);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    spdlog::warn("{} is not a regular file, {} is not cached", cache_path, graph_path);
    return;
  }
  try {
    {
      const ProgressStep step(progress, [&cache_path] { return "writing " + cache_path; });
      io::write_graph_cache(cache_path, graph, options.threads, graph_path);
    }
    spdlog::info("cached in {}", cache_path);
  } catch (const io::OutputError& error) {
    spdlog::warn("{}; {} is not cached", error.what(), graph_path);
  }
}

TextGraph read_through_cache(const Options& options, const std::string& path, PhaseClock& clock,
                             ProgressDisplay& progress, io::Report& report) {
  const std::optional<io::SourceStamp> stamp = io::source_stamp(path);
  if (!stamp) {
    TextGraph text =
        read_text(options, path, is_sure_to_rank_on_cpu(options), clock, progress, report);
    if (path == "-") {
      spdlog::warn("standard input is not cached");
    } else {
      spdlog::warn("{} is not the name of a regular file, it is not cached", path);
    }
    return text;
  }
  const std::string cache = io::graph_cache_path(path, options.cache_dir);
  if (auto graph = read_kept_cache(options, path, cache, *stamp, clock, progress, report))
    return {*std::move(graph), {}};
  TextGraph text = read_text(options, path, false, clock, progress, report);
  text.graph.info.stamp = *stamp;
  keep(options, path, cache, text.graph, progress);
  report.seconds.cache = clock.lap();
  return text;
}

/// Of either matrix.
template <class Matrix>
void describe(const Matrix& matrix, bool weighted, io::Report& report) {
  report.graph.nodes = matrix.graph_node_count();
  report.graph.links = matrix.distinct_links;
  report.graph.dangling = matrix.dangling.size() + matrix.more_unlinked;
  report.graph.weighted = weighted;
}

/// A graph whose matrix is in main memory.
LoadedGraph load_here(const Options& options, const std::string& path, PhaseClock& clock,
                      ProgressDisplay& progress, io::Report& report) {
  auto [graph, blocked] =
      io::is_graph_cache(path)
          ? TextGraph{read_given_cache(options, path, clock, progress, report), {}}
      : options.cache
          ? read_through_cache(options, path, clock, progress, report)
          : read_text(options, path, is_sure_to_rank_on_cpu(options), clock, progress, report);
  report.graph.format = name_of(graph.info.format);
  report.graph.source = name_of(graph.info.source_index);
  report.graph.entries = graph.info.entries;
  report.graph.symmetric = graph.info.symmetric;
  if (blocked) {
    describe(*blocked, false, report);
  } else {
    describe(graph.matrix, graph.matrix.weighted(), report);
  }
  const NodeId more_unlinked = graph.matrix.more_unlinked;
  return {std::move(graph.matrix), std::move(blocked), {}, std::move(graph.labels), more_unlinked};
}

}  // namespace

bool reads_on_device(const Options& options, const std::string& path) {
  if (io::is_graph_cache(path)) return false;
  if (options.reader != ReaderChoice::automatic) return options.reader == ReaderChoice::device;
  if (is_sure_to_rank_on_cpu(options) || options.cache || path == "-") return false;
  // Others are not even opened: who writes to a pipe would notice, and may not come again.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  io::ByteSource source(path);
  return device_is_faster(options, source);
}

bool is_lack_of_gpu(const std::exception& error) {
  return dynamic_cast<const gpu::NotCompiled*>(&error) != nullptr ||
         dynamic_cast<const gpu::NoDevice*>(&error) != nullptr ||
         dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::system_error*>(&error) != nullptr;
}

LoadedGraph load_graph(const Options& options, const std::string& path, PhaseClock& clock,
                       ProgressDisplay& progress, io::Report& report) {
  std::optional<LoadedGraph> read;
  if (reads_on_device(options, path)) {
    try {
      read = read_on_device(options, path, clock, progress, report);
    } catch (const std::exception& error) {
      if (options.reader == ReaderChoice::device || !is_lack_of_gpu(error)) throw;
      spdlog::info("the host reads the text: {}", message_of(error));
    }
  }
  LoadedGraph graph = read ? *std::move(read) : load_here(options, path, clock, progress, report);
  const bool named = graph.names().are_given();
  report.graph.smallest_node = named ? graph.labels.front() : 1;
  report.graph.largest_node = named ? graph.labels.back() : report.graph.nodes;
  const std::string called =
      named ? fmt::format(" called {} to {}", report.graph.smallest_node, report.graph.largest_node)
            : "";
  const std::string origin = report.graph.cache.empty()   ? ""
                             : report.graph.cache == path ? "; a graph cache"
                                                          : "; from " + report.graph.cache;
  spdlog::info(
      "{}: {} nodes{}, {} entries, {} links, {} dangling nodes; {} index is the source{}{}",
      io::input_name(path), report.graph.nodes, called, report.graph.entries, report.graph.links,
      report.graph.dangling, report.graph.source,
      report.graph.symmetric ? " (symmetric: links both ways)" : "", origin);
  return graph;
}

}  // namespace pagerank::app
