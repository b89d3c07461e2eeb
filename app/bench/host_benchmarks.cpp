#include "app/bench/host_benchmarks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "app/bench/benchmarks.hpp"
#include "app/bench/device_load.hpp"
#include "app/options.hpp"
#include "core/blocked_matrix.hpp"
#include "core/cpu_engine.hpp"
#include "core/cpu_layout.hpp"
#include "core/huge_pages.hpp"
#include "core/parallel.hpp"
#include "io/byte_source.hpp"
#include "io/graph_cache.hpp"
#include "io/graph_reader.hpp"
#include "io/input_error.hpp"

namespace pagerank::app::bench {
namespace {

using io::BenchmarkRow;

/// Too many for any cache.
constexpr std::uint64_t memory_bytes = std::uint64_t{256} << 20;

/// A number of KiB of /proc/self/status; 0 if it does not say.
std::uint64_t memory_of_process(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

/// How much more memory than before the action took at its peak; unset if the system does not say.
template <class Action>
std::optional<std::uint64_t> peak_bytes(Action action) {
#if defined(__GLIBC__)
  malloc_trim(0);  // what the heap has kept would not count
#endif
  const bool reset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush);
  const std::uint64_t before = memory_of_process("VmRSS");
  action();
  const std::uint64_t peak = memory_of_process("VmHWM");
  if (!reset || peak < before) return std::nullopt;
  return peak - before;
}

/// Something that is timed in turns with others.
struct Candidate {
  BenchmarkRow row;
  std::function<void()> prepare;  ///< Not timed.
  std::function<void()> run;
  std::vector<double> samples = {};
};

void time_in_turns(std::vector<Candidate>& candidates, double seconds) {
  using Clock = std::chrono::steady_clock;
  double timed = 0;
  const double enough = seconds * static_cast<double>(candidates.size());
  for (int round = 0; round < 3 || (timed < enough && round < 1000); ++round) {
    for (Candidate& candidate : candidates) {
      if (candidate.prepare) candidate.prepare();
      const Clock::time_point begin = Clock::now();
      candidate.run();
      candidate.samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
      timed += candidate.samples.back();
    }
  }
  for (Candidate& candidate : candidates) {
    set_samples(candidate.row, candidate.samples);
  }
}

/// Reads the file in pieces and hands them to take(bytes) on `threads` threads.
template <class Take>
void read_file(const io::ByteSource& source, int threads, Take take) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 18;
  const std::uint64_t size = *source.size();
  std::atomic<std::uint64_t> next = 0;
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    Array<char> buffer(piece);
    for (std::uint64_t at = 0; (at = next.fetch_add(piece)) < size;) {
      take(std::span(buffer).first(source.read_at(at, buffer)));
    }
  });
}

/// Decompresses a file, and says how many bytes that makes.
std::uint64_t decompress(const std::string& path) {
  io::ByteSource source(path);
  Array<char> buffer(std::size_t{1} << 18);
  std::uint64_t bytes = 0;
  for (std::size_t read = 0; (read = source.read(buffer)) > 0;) bytes += read;
  return bytes;
}

/// Reads a file as it is, and says how many bytes that are.
std::uint64_t read_plainly(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Array<char> buffer(std::size_t{1} << 18);
  std::uint64_t bytes = 0;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
    bytes += static_cast<std::uint64_t>(file.gcount());
  return bytes;
}

/// As fast as `wc -l` does it: many sums side by side, in bytes that cannot overflow.
std::uint64_t count_lines(std::span<const char> text) {
  constexpr std::size_t step = 128;
  std::uint64_t lines = 0;
  for (; text.size() >= step; text = text.subspan(step)) {
    std::uint8_t few = 0;
    for (std::size_t i = 0; i < step; ++i) few = static_cast<std::uint8_t>(few + (text[i] == '\n'));
    lines += few;
  }
  return lines + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The cache that `pagerank --cache` left beside the file, if it is still of the file, read this
/// way; else empty.
std::string kept_cache(const std::string& path, io::GraphFormat format, SourceIndex source) {
  std::string cache = io::graph_cache_path(path, "");
  try {
    const io::GraphCacheInfo info = io::GraphCache(cache).info();
    if (info.stamp == io::source_stamp(path) && info.format == format &&
        info.source_index == source) {
      return cache;
    }
  } catch (const io::InputError&) {  // there is none, or of no use
  } catch (const std::bad_alloc&) {  // there are no addresses for it
  }
  return {};
}

std::uint64_t read_memory(std::span<const std::uint64_t> memory, int threads) {
  constexpr std::size_t piece = std::size_t{1} << 17;
  std::atomic<std::uint64_t> sum = 0;
  parallel_for((memory.size() + piece - 1) / piece, threads, [&](std::size_t p) {
    const auto part = memory.subspan(p * piece, std::min(piece, memory.size() - p * piece));
    sum += std::accumulate(part.begin(), part.end(), std::uint64_t{0});
  });
  return sum;
}

void describe_host(const BenchOptions& options, io::BenchmarkTable& table) {
  table.device = cpu_device(thread_count(options.threads));
  table.precision = "double";
}

}  // namespace

MemoryReading::MemoryReading(std::uint64_t bytes, int threads)
    : bytes_(bytes),
      threads_(thread_count(threads)),
      memory_(std::clamp<std::uint64_t>(bytes, 1 << 20, 256 << 20) / sizeof(std::uint64_t)) {
  advise_huge_pages(std::span(memory_));  // as what is measured has
  std::fill(memory_.begin(), memory_.end(), 1);
}

void MemoryReading::read() {
  found_ = read_memory(memory_, threads_);
  if (found_ == 0) throw std::logic_error("memory that was filled with ones adds up to 0");
}

void MemoryReading::sample() {
  using Clock = std::chrono::steady_clock;
  using namespace std::chrono_literals;
  const Clock::time_point begin = Clock::now();
  std::chrono::duration<double> elapsed{};
  int readings = 0;
  // As what is measured is a mean of many iterations: one reading may fall into what disturbs it.
  for (; elapsed < 20ms; ++readings) {
    read();
    elapsed = Clock::now() - begin;
  }
  seconds_.push_back(elapsed.count() / readings * static_cast<double>(bytes_) /
                     static_cast<double>(memory_.size() * sizeof(std::uint64_t)));
}

BenchmarkRow MemoryReading::row(const std::string& name) const {
  BenchmarkRow row{.kernel = name, .bytes = bytes_, .on_host = true};
  set_samples(row, seconds_);
  return row;
}

void run_load(const BenchOptions& options, const std::string& path, io::BenchmarkTable& table) {
  describe_host(options, table);
  const int threads = thread_count(options.threads);
  const io::ByteSource file(path);
  if (!file.bytes_to_take()) throw io::InputError(path + ": load measures files");
  const bool compressed = !file.size();
  if (compressed && options.device_reader) {
    throw UsageError("--reader device: " + path + " is compressed, and that bounds all");
  }
  const std::uint64_t size = compressed ? decompress(path) : *file.size();
  const auto note = [&table](const TransitionMatrix& matrix) {
    table.nodes = matrix.graph_node_count();
    table.links = matrix.link_count();
  };
  const bool is_cache = io::is_graph_cache(path);
  const io::GraphFormat format = [&] {
    if (is_cache) return io::GraphFormat{};  // needs none
    io::ByteSource source(path);
    return io::format_of(source, path);
  }();
  std::vector<double> read_seconds;  // of load_text
  const auto graph_of_text = [&] {
    const auto begin = std::chrono::steady_clock::now();
    io::ByteSource source(path);
    io::GraphReader reader(source, format, {.threads = options.threads});
    reader.read(options.source);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    read_seconds.push_back(elapsed.count());
    NodeLabels labels = reader.take_labels();
    return ReadGraph{reader.build(), std::move(labels)};
  };
  const auto load_text = [&] { note(graph_of_text().matrix); };
  // As the program does for the CPU engine, where that lays links out.
  bool laid_out = false;
  const auto load_laid_out = [&] {
    io::ByteSource source(path);
    io::GraphReader reader(source, format, {.threads = options.threads});
    reader.read(options.source);
    const auto built = reader.build_for(LayoutWish());
    laid_out = std::holds_alternative<BlockedMatrix>(built);
  };
  const auto load_cache = [&](const std::string& cache) {
    note(io::GraphCache(cache).load(options.threads).matrix);
  };
  MemoryReading memory(memory_bytes, threads);
  std::atomic<std::uint64_t> found = 0;  // keeps the compiler from leaving the work out
  const auto read = [&] { read_file(file, threads, [&](auto piece) { found += piece.size(); }); };
  std::vector<Candidate> candidates = {
      compressed ? Candidate{.row = {.kernel = "decompress", .bytes = size},
                             .prepare = {},
                             .run = [&] { found += decompress(path); }}
                 : Candidate{.row = {.kernel = "read", .bytes = size}, .prepare = {}, .run = read},
      {.row = {.kernel = "read memory", .bytes = memory_bytes, .on_host = true},
       .run = [&] { memory.read(); }}};
  if (compressed) {
    candidates.push_back(
        {.row = {.kernel = "read compressed", .bytes = read_plainly(path), .on_host = true},
         .prepare = {},
         .run = [&] { found += read_plainly(path); }});
  }
  const auto add_load = [&](const char* name, std::uint64_t bytes, std::function<void()> run) {
    const std::optional<std::uint64_t> peak = peak_bytes(run);
    candidates.push_back({.row = {.kernel = name, .bytes = bytes, .peak_bytes = peak},
                          .prepare = {},
                          .run = std::move(run)});
  };
  if (is_cache) {
    if (options.device_reader) throw UsageError("--reader device: " + path + " is no text");
    add_load("load", size, [&] { load_cache(path); });
  } else {
    if (!compressed) {
      candidates.push_back(
          {.row = {.kernel = "count lines", .bytes = size}, .prepare = {}, .run = [&] {
             read_file(file, 1, [&](auto piece) { found += count_lines(piece); });
           }});
    }
    add_load("load", size, load_text);
    if (table.links >= LinkSample::least_links) load_laid_out();
    if (laid_out) add_load("load laid out", size, load_laid_out);
    if (const std::string cache = kept_cache(path, format, options.source); !cache.empty()) {
      add_load("load cached", io::ByteSource(cache).size().value_or(0),
               [&load_cache, cache] { load_cache(cache); });
    }
  }
  std::optional<DeviceLoad> device;
  const std::size_t on_host = candidates.size();
  if (options.device_reader) {
    ReadGraph graph = graph_of_text();
    if (graph.matrix.more_unlinked > 0) {
      throw UsageError("--reader device: hardly a node of " + path +
                       " has links, and the host's matrix has rows for those alone");
    }
    device.emplace(options, path, std::move(graph));
    for (auto& turn : device->turns()) {
      candidates.push_back({.row = {}, .prepare = {}, .run = std::move(turn)});
    }
  }
  read_seconds.clear();
  time_in_turns(candidates, options.seconds);
  table.copy_bytes_per_second = candidates.front().row.bytes_per_second();
  for (std::size_t i = 0; i < on_host; ++i) {
    BenchmarkRow& row = candidates[i].row;
    if (row.kernel == "load" && !read_seconds.empty()) row.stream_seconds = median(read_seconds);
    table.rows.push_back(std::move(row));
  }
  if (device) device->add_to(table);
}

void run_build(const BenchOptions& options, const EdgeList& edges, io::BenchmarkTable& table) {
  describe_host(options, table);
  const int threads = thread_count(options.threads);
  EdgeList copy;
  std::uint64_t bytes =
      edges.entry_count() * (2 * sizeof(NodeId)) + edges.weights.size() * sizeof(double);
  const auto build = [&] {
    const TransitionMatrix matrix = make_transition_matrix(std::move(copy), options.threads);
    table.links = matrix.link_count();
    table.nodes = matrix.node_count();
  };
  copy = edges;
  const std::optional<std::uint64_t> peak = peak_bytes(build);
  bytes += table.links * (sizeof(NodeId) + (edges.weighted() ? sizeof(double) : 0)) +
           table.nodes * (sizeof(EdgeIndex) + sizeof(double));

  MemoryReading memory(memory_bytes, threads);
  std::vector<Candidate> candidates = {
      {.row = {.kernel = "read memory", .bytes = memory_bytes}, .run = [&] { memory.read(); }},
      {.row = {.kernel = "build", .values = edges.weighted(), .bytes = bytes, .peak_bytes = peak},
       .prepare = [&] { copy = edges; },
       .run = build}};
  time_in_turns(candidates, options.seconds);
  table.copy_bytes_per_second = candidates.front().row.bytes_per_second();
  for (Candidate& candidate : candidates) table.rows.push_back(std::move(candidate.row));
}

}  // namespace pagerank::app::bench
