#include "gpu/device_reader.hpp"

#include <chrono>
#include <optional>

#include "core/pagerank.hpp"
#include "gpu/device.cuh"
#include "gpu/matrix_builder.cuh"
#include "gpu/node_numbering.cuh"
#include "gpu/page_lock.hpp"
#include "gpu/pagerank.hpp"
#include "gpu/reader_memory.hpp"
#include "gpu/text_parser.cuh"
#include "gpu/text_ring.hpp"

namespace pagerank::gpu {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

DeviceMatrix::DeviceMatrix(std::unique_ptr<DeviceTransitionMatrix> arrays)
    : arrays_(std::move(arrays)) {}
DeviceMatrix::DeviceMatrix(DeviceMatrix&&) noexcept = default;
DeviceMatrix& DeviceMatrix::operator=(DeviceMatrix&&) noexcept = default;
DeviceMatrix::~DeviceMatrix() = default;
NodeId DeviceMatrix::node_count() const {
  return static_cast<NodeId>(arrays_->node_count());
}
EdgeIndex DeviceMatrix::link_count() const {
  return arrays_->link_count();
}
EdgeIndex DeviceMatrix::distinct_links() const {
  return arrays_->distinct_links;
}
std::uint64_t DeviceMatrix::dangling_count() const {
  return arrays_->dangling;
}
bool DeviceMatrix::weighted() const {
  return arrays_->weighted();
}
TransitionMatrix DeviceMatrix::download() const {
  return arrays_->download();
}
std::unique_ptr<DeviceTransitionMatrix> DeviceMatrix::take_arrays() {
  return std::move(arrays_);
}

class DeviceReader::Impl {
 public:
  Impl(EntrySource& source, const DeviceReaderOptions& options)
      : source_(source), options_(options), shape_(source.shape()) {
    ring_.emplace(source, ring_shape(shape_, source.buffer_bytes(), options.threads));
  }

  void read() {
    const auto entering = std::chrono::steady_clock::now();
    memory_ = {enter_device(options_.device), options_.memory_limit};
    context_seconds_ = seconds_since(entering);
    if (shape_.format.labelled) {
      number(parse(&DeviceTextParser::take_labelled_entries));
    } else {
      entries_ = parse(&DeviceTextParser::take_entries);
      nodes_ = shape_.format.node_count;
    }
  }

  [[nodiscard]] std::uint64_t entry_count() const { return entries_.count; }
  [[nodiscard]] double context_seconds() const { return context_seconds_; }
  [[nodiscard]] double stream_seconds() const { return stream_seconds_; }
  [[nodiscard]] NodeLabels take_labels() { return std::move(labels_); }

  [[nodiscard]] EdgeList download_edges(SourceIndex source_index) const {
    EdgeList edges;
    edges.node_count = static_cast<NodeId>(nodes_);
    edges.undirected = shape_.symmetric;
    // (The arrays may have room for more.)
    const std::vector<std::uint64_t> places = entries_.places.download(entries_.count);
    for (std::uint64_t e = 0; e < entries_.count; ++e) {
      edges.add_entry(source_index, static_cast<NodeId>(places[e] >> 32),
                      static_cast<NodeId>(places[e]));
    }
    if (shape_.format.weights != EntryFormat::Weights::none) {
      const std::vector<double> weights = entries_.weights.download(entries_.count);
      edges.weights.assign(weights.begin(), weights.end());
    }
    return edges;
  }

  [[nodiscard]] DeviceMatrix build(SourceIndex source_index) {
    ring_.reset();
    const MatrixShape shape = matrix_shape(source_index);
    if (shape_.format.labelled) require_memory_to_build(shape);
    const Stream stream;
    return DeviceMatrix(std::make_unique<DeviceTransitionMatrix>(
        build_transition_matrix(std::move(entries_), shape, stream)));
  }

 private:
  [[nodiscard]] MatrixShape matrix_shape(SourceIndex source_index) const {
    return {.nodes = shape_.format.labelled ? nodes_ : shape_.format.node_count,
            .weighted = shape_.format.weights != EntryFormat::Weights::none,
            .symmetric = shape_.symmetric,
            .source_index = source_index};
  }

  /// Parses all of the text; `take` is what takes the entries out of the parser. The matrix too has
  /// to fit beside them. Throws OutOfMemory.
  template <class Entries>
  [[nodiscard]] Entries parse(Entries (DeviceTextParser::*take)(std::uint64_t)) {
    const PageLock lock(ring_->memory(), PageLock::Need::wished);
    const std::size_t buffer_bytes = source_.buffer_bytes();
    const EntryRoom room = room_for_entries(shape_, matrix_shape(SourceIndex::row),
                                            DeviceTextParser::memory(buffer_bytes),
                                            memory_.available(), memory_.device);
    DeviceTextParser parser(shape_, room, buffer_bytes, memory_);
    const auto streaming = std::chrono::steady_clock::now();
    const std::uint64_t count = read_entries(source_, *ring_, parser, options_.threads);
    Entries entries = (parser.*take)(count);
    stream_seconds_ = seconds_since(streaming);
    return entries;
  }

  void number(LabelledEntries labelled) {
    const Stream stream;
    const LabelRange range = range_of(labelled, stream);
    const std::size_t held = labelled.bytes();
    memory_.require(held + bytes_to_number(labelled.count, range), held);
    NumberedEntries numbered = number_nodes(
        std::move(labelled), range, [this](std::uint64_t nodes) { source_.require_nodes(nodes); },
        options_.threads, stream);
    entries_ = std::move(numbered.entries);
    nodes_ = numbered.nodes;
    labels_ = std::move(numbered.labels);
  }

  /// Of what was read before nodes were counted; else it was made sure before the entries came.
  void require_memory_to_build(const MatrixShape& shape) const {
    // Arrays that grew as text came may be larger than what is in them.
    const std::size_t held = entries_.bytes();
    const std::size_t unused = held - entries_.count * bytes_of_numbered_entry(shape.weighted);
    memory_.require(bytes_to_build(entries_.count, shape) + unused, held);
  }

  EntrySource& source_;
  DeviceReaderOptions options_;
  EntryTextShape shape_;
  std::optional<TextRing> ring_;
  DeviceMemory memory_;
  DeviceEntries entries_;
  std::uint64_t nodes_ = 0;
  NodeLabels labels_;
  double context_seconds_ = 0, stream_seconds_ = 0;
};

DeviceReader::DeviceReader(EntrySource& source, const DeviceReaderOptions& options)
    : impl_(std::make_unique<Impl>(source, options)) {}
DeviceReader::~DeviceReader() = default;
void DeviceReader::read() {
  impl_->read();
}
std::uint64_t DeviceReader::entry_count() const {
  return impl_->entry_count();
}
double DeviceReader::context_seconds() const {
  return impl_->context_seconds();
}
double DeviceReader::stream_seconds() const {
  return impl_->stream_seconds();
}
EdgeList DeviceReader::download_edges(SourceIndex source_index) const {
  return impl_->download_edges(source_index);
}
NodeLabels DeviceReader::take_labels() {
  return impl_->take_labels();
}
DeviceMatrix DeviceReader::build(SourceIndex source_index) {
  return impl_->build(source_index);
}

}  // namespace pagerank::gpu
