#include "app/bench/device_load.hpp"

#include <chrono>
#include <utility>

#include "app/bench/benchmarks.hpp"
#include "app/text_source.hpp"
#include "core/pagerank.hpp"
#include "gpu/device_reader.hpp"
#include "io/byte_source.hpp"
#include "io/graph_format.hpp"
#include "io/graph_reader.hpp"
#include "io/line_blocks.hpp"

namespace pagerank::app::bench {
namespace {

/// Large enough that what a copy costs by itself does not show; about the time of a gigabyte's
/// last quarter.
constexpr std::size_t bus_bytes = std::size_t{256} << 20;
/// The reader's own blocks: some of them travel together, so it may be faster than this.
constexpr std::size_t block_bytes = io::LineBlocks::buffer_bytes;

bool same(const TransitionMatrix& one, const TransitionMatrix& other) {
  return one.in_links.row_offsets == other.in_links.row_offsets &&
         one.in_links.column_indices == other.in_links.column_indices &&
         one.in_links.values == other.in_links.values &&
         one.inverse_out_weight == other.inverse_out_weight && one.dangling == other.dangling &&
         one.distinct_links == other.distinct_links;
}

io::BenchmarkRow bus_row(const std::string& name, const std::vector<double>& seconds) {
  io::BenchmarkRow row{.kernel = name, .bytes = bus_bytes, .over_bus = true};
  set_samples(row, seconds);
  return row;
}

/// Whether nobody has asked before: a context is there for the whole process once it is created.
bool is_first_of_process() {
  static bool was_asked = false;
  return !std::exchange(was_asked, true);
}

}  // namespace

DeviceLoad::DeviceLoad(const BenchOptions& options, std::string path, const ReadGraph& expected)
    : options_(options), path_(std::move(path)), creates_context_(is_first_of_process()) {
  try {
    load(first_, &expected);
    bus_ = std::make_unique<gpu::BusBenchmark>(options_.device, bus_bytes);
  } catch (const OutOfMemory& error) {
    refusal_ = error.what();
  }
}

void DeviceLoad::load_again() {
  if (!refusal_.empty()) return;
  try {
    load(later_);
  } catch (const OutOfMemory& error) {  // others may take memory at any time
    refusal_ = error.what();
  }
}

void DeviceLoad::load(Samples& samples, const ReadGraph* expected) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  io::ByteSource source(path_);
  const io::GraphFormat format = io::format_of(source, path_);
  io::GraphReader reader(source, format, {.threads = options_.threads});
  const std::unique_ptr<gpu::EntrySource> entries = text_source(reader);
  gpu::DeviceReader device(*entries, {.device = options_.device,
                                      .threads = options_.threads,
                                      .memory_limit = options_.gpu_memory});
  device.read();
  const gpu::DeviceMatrix matrix = device.build(options_.source);
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  samples.context = device.context_seconds();
  samples.whole.push_back(elapsed.count() - samples.context);
  samples.stream.push_back(device.stream_seconds());
  file_bytes_ = source.size().value_or(0);
  if (expected == nullptr) return;
  if (!same(matrix.download(), expected->matrix)) {
    refusal_ = "wrong result: the matrix differs from the host's";
  } else if (device.take_labels() != expected->labels) {
    refusal_ = "wrong result: the nodes' labels differ from the host's";
  }
}

std::vector<std::function<void()>> DeviceLoad::turns() {
  if (!refusal_.empty()) return {};
  return {[this] { bus_seconds_.push_back(bus_->copy(bus_bytes)); },
          [this] { bus_block_seconds_.push_back(bus_->copy(block_bytes)); },
          [this] { load_again(); }};
}

io::BenchmarkRow DeviceLoad::row(const std::string& name, const Samples& samples) const {
  io::BenchmarkRow row{.kernel = name, .refusal = refusal_, .bytes = file_bytes_, .over_bus = true};
  if (!refusal_.empty()) return row;
  set_samples(row, samples.whole);
  row.stream_seconds = median(samples.stream);
  return row;
}

void DeviceLoad::add_to(io::BenchmarkTable& table) const {
  for (const gpu::Device& device : gpu::devices()) {
    if (device.index == options_.device) table.device += "; " + device.name;
  }
  if (refusal_.empty()) {
    table.rows.push_back(bus_row("bus", bus_seconds_));
    table.bus_bytes_per_second = table.rows.back().bytes_per_second();
    table.rows.push_back(bus_row("bus, blocks of " + std::to_string(block_bytes >> 20) + " MiB",
                                 bus_block_seconds_));
    if (creates_context_) {
      table.rows.push_back(row("load device, first", first_));
      table.rows.back().context_seconds = first_.context;
    }
  }
  table.rows.push_back(row("load device", later_));
}

}  // namespace pagerank::app::bench
