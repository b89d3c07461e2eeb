#include "io/graph_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "core/threads.hpp"
#include "io/atomic_file.hpp"
#include "io/input_error.hpp"

namespace pagerank::io {

namespace fs = std::filesystem;
using namespace graph_cache;

namespace {

constexpr const char* extension = ".prgraph";

/// A regular file, opened to look at parts of it. Others are not even opened: who writes to a pipe
/// would notice.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) {
    std::error_code none;
    if (fs::is_regular_file(path, none)) number_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Unset if there is no such file or it cannot be read.
  [[nodiscard]] std::optional<struct stat> status() const {
    struct stat status {};
    if (number_ < 0 || fstat(number_, &status) != 0) return {};
    return status;
  }

  /// Whether all these bytes could be read.
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<std::byte> buffer) const {
    while (!buffer.empty()) {
      const ssize_t got = pread(number_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      buffer = buffer.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return true;
  }

 private:
  int number_ = -1;
};

template <class T>
std::span<const T> numbers(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Looks at the sections of a cache, piece by piece, from several threads.
class ContentCheck {
 public:
  ContentCheck(const Header& header, const Contents& contents)
      : links_(header.links),
        nodes_(header.nodes),
        more_unlinked_(header.more_unlinked),
        row_offsets_(numbers<EdgeIndex>(contents[row_offsets])),
        column_indices_(numbers<NodeId>(contents[column_indices])),
        values_(numbers<double>(contents[values])),
        inverse_out_weight_(numbers<double>(contents[inverse_out_weight])),
        labels_(numbers<std::uint64_t>(contents[labels])),
        dangling_(contents[inverse_out_weight].size() / piece_bytes + 1) {}

  void check(Section section, std::size_t first_byte, std::size_t bytes) {
    switch (section) {
      case row_offsets:
        check_row_offsets(first_byte / sizeof(EdgeIndex), bytes / sizeof(EdgeIndex));
        break;
      case column_indices:
        check_column_indices(first_byte / sizeof(NodeId), bytes / sizeof(NodeId));
        break;
      case values:
        require_within(values_.subspan(first_byte / sizeof(double), bytes / sizeof(double)), 2,
                       "an element is not within [0, 2]");
        break;
      case inverse_out_weight:
        check_inverse_out_weight(first_byte / sizeof(double), bytes / sizeof(double));
        break;
      case labels:
        check_labels(first_byte / sizeof(std::uint64_t), bytes / sizeof(std::uint64_t));
        break;
      default:
        break;
    }
  }

  /// Once all pieces were looked at: what is wrong, or null.
  [[nodiscard]] const char* fault() const {
    if (fault_ != nullptr) return fault_;
    if (more_unlinked_ > 0) {
      const std::uint64_t all = nodes_ + more_unlinked_;
      if (row_offsets_[nodes_ - 1] != links_ || inverse_out_weight_[nodes_ - 1] != 0) {
        return "the row of nodes without links has some";
      }
      if (!labels_.empty() && (labels_.front() == 0 || labels_.back() > all)) {
        return "a label is out of range";
      }
    }
    // All places where columns descend are those where rows begin.
    return descents_ == descents_between_rows_ ? nullptr : "columns descend within a row";
  }

  /// Ascending.
  [[nodiscard]] std::vector<NodeId> dangling() const {
    std::vector<NodeId> nodes;
    for (const Array<NodeId>& some : dangling_) {
      nodes.insert(nodes.end(), some.begin(), some.end());
    }
    return nodes;
  }

 private:
  void check_row_offsets(std::size_t first, std::size_t count) {
    if (first == 0 && row_offsets_.front() != 0) fault_ = "row offsets do not begin at 0";
    if (row_offsets_.back() != links_) fault_ = "row offsets do not end at the number of links";
    std::uint64_t descents = 0;
    const std::size_t last = std::min<std::size_t>(first + count, nodes_);
    for (std::size_t row = first; row < last; ++row) {
      const EdgeIndex begin = row_offsets_[row], end = row_offsets_[row + 1];
      if (begin > end || end > links_) {
        fault_ = "row offsets descend";
        return;
      }
      if (links_ < 2) continue;
      // No jump that depends on whether a row is empty: it could not be predicted.
      const bool has_neighbour = (begin != end) & (begin != 0);
      const EdgeIndex at = has_neighbour ? begin : 1;
      descents += has_neighbour & (column_indices_[at] < column_indices_[at - 1]);
    }
    descents_between_rows_ += descents;
  }

  void check_column_indices(std::size_t first, std::size_t count) {
    const NodeId* const columns = column_indices_.data();
    NodeId largest = columns[first];
    std::uint32_t descents = 0;  // of a piece: narrow, for wide instructions
    for (std::size_t k = std::max<std::size_t>(first, 1); k < first + count; ++k) {
      largest = std::max(largest, columns[k]);
      descents += columns[k] < columns[k - 1];
    }
    if (largest >= nodes_ - (more_unlinked_ > 0 ? 1 : 0)) fault_ = "a column index is out of range";
    descents_ += descents;
  }

  void check_inverse_out_weight(std::size_t first, std::size_t count) {
    require_within(inverse_out_weight_.subspan(first, count), 1,
                   "an inverse out-weight is not within [0, 1]");
    Array<NodeId>& dangling = dangling_[first * sizeof(double) / piece_bytes];
    dangling.resize(count);
    std::size_t found = 0;
    for (std::size_t node = first; node < first + count; ++node) {
      dangling[found] = static_cast<NodeId>(node);  // stays if it is one; no jump either
      found += inverse_out_weight_[node] == 0;
    }
    dangling.resize(found);
  }

  void check_labels(std::size_t first, std::size_t count) {
    for (std::size_t node = std::max<std::size_t>(first, 1); node < first + count; ++node) {
      if (labels_[node] <= labels_[node - 1]) fault_ = "labels do not ascend";
    }
  }

  /// Compares the numbers' bits as integers, which wide instructions of any x86-64 can: in that
  /// order, all that is not a number, negative or too large is below 0 or above `most`.
  void require_within(std::span<const double> some, double most, const char* fault) {
    const auto most_bits = std::bit_cast<std::uint64_t>(most);
    std::uint64_t signs = 0;
    for (const double value : some) {
      const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 becomes 0
      signs |= bits | (most_bits - bits);
    }
    if (signs >> 63 != 0) fault_ = fault;
  }

  std::uint64_t links_, nodes_, more_unlinked_;
  std::span<const EdgeIndex> row_offsets_;
  std::span<const NodeId> column_indices_;
  std::span<const double> values_;
  std::span<const double> inverse_out_weight_;
  std::span<const std::uint64_t> labels_;
  std::vector<Array<NodeId>> dangling_;  ///< Of each piece.
  std::atomic<std::uint64_t> descents_ = 0, descents_between_rows_ = 0;
  std::atomic<const char*> fault_ = nullptr;
};

/// Whether the bytes between the sections are what they should be.
bool gaps_are_zero(std::span<const std::byte> file, const Layout& layout) {
  std::uint64_t last = file.size();
  for (std::size_t s = section_count; s-- > 0;) {
    const Extent& section = layout.sections[s];
    for (std::uint64_t at = section.begin + section.bytes; at < last; ++at) {
      if (file[at] != std::byte{0}) return false;
    }
    last = section.begin;
  }
  return true;
}

}  // namespace

std::optional<SourceStamp> source_stamp(const std::string& path) {
  if (path == "-" || names_descriptor(path)) return {};
  const Descriptor file(path);
  const auto status = file.status();
  if (!status) return {};
  constexpr std::uint64_t sample_bytes = 64 << 10;
  const auto size = static_cast<std::uint64_t>(status->st_size);
  std::vector<std::byte> sample(std::min(size, 2 * sample_bytes));
  const std::size_t half = std::min<std::size_t>(sample.size(), sample_bytes);
  const std::size_t rest = sample.size() - half;
  if (!file.read_at(0, std::span(sample).first(half)) ||
      !file.read_at(size - rest, std::span(sample).last(rest))) {
    return {};
  }
  const timespec& time = status->st_mtim;
  return SourceStamp{.bytes = size,
                     .modified_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec,
                     .sample = checksum(sample)};
}

void write_graph_cache(const std::string& path, const CachedGraph& graph, int threads,
                       const std::string& made_of) {
  const TransitionMatrix& matrix = graph.matrix;
  const CsrMatrix& in_links = matrix.in_links;
  const bool shared_row = matrix.more_unlinked > 0;
  const std::size_t named = matrix.node_count() - (shared_row ? 1 : 0);
  if ((shared_row || !graph.labels.empty()) && graph.labels.size() != named) {
    throw std::invalid_argument("graph cache: labels and nodes differ in number");
  }
  const GraphCacheInfo& info = graph.info;
  Header header;
  const auto set = [&header](std::uint64_t flag, bool holds) { header.flags |= holds ? flag : 0; };
  set(source_is_column, info.source_index == SourceIndex::column);
  set(symmetric, info.symmetric);
  set(weighted, matrix.weighted());
  set(labelled, shared_row || !graph.labels.empty());
  set(edge_list, info.format == GraphFormat::edge_list);
  header.nodes = matrix.node_count();
  header.links = matrix.link_count();
  header.distinct_links = matrix.distinct_links;
  header.more_unlinked = matrix.more_unlinked;
  header.entries = info.entries;
  header.source_bytes = info.stamp.bytes;
  header.source_modified_ns = info.stamp.modified_ns;
  header.source_sample = info.stamp.sample;
  const Layout layout = layout_of(header);
  header.file_bytes = layout.file_bytes;
  const auto bytes_of = [](const auto& array) { return std::as_bytes(std::span(array)); };
  const Contents contents = {bytes_of(in_links.row_offsets), bytes_of(in_links.column_indices),
                             bytes_of(in_links.values), bytes_of(matrix.inverse_out_weight),
                             bytes_of(graph.labels)};
  header.content_checksum =
      content_checksum(contents, thread_count(threads), [](Section, std::size_t, std::size_t) {});
  header.header_checksum = header_checksum(header);

  AtomicFile file(path);
  if (!made_of.empty()) file.restrict_like(made_of);
  std::uint64_t at = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    errno = 0;
    file.stream().write(reinterpret_cast<const char*>(bytes.data()),
                        static_cast<std::streamsize>(bytes.size()));
    if (!file.stream()) {
      throw OutputError("cannot write " + path + ": " +
                        (errno != 0 ? std::strerror(errno) : "output error"));
    }
    at += bytes.size();
  };
  const std::array<std::byte, alignment> zeros = {};
  write(std::as_bytes(std::span(&header, 1)));
  for (std::size_t s = 0; s < section_count; ++s) {
    write(std::span(zeros).first(layout.sections[s].begin - at));
    write(contents[s]);
  }
  write(std::span(zeros).first(layout.file_bytes - at));
  file.commit();
}

void GraphCache::damaged(const char* why) const {
  throw InputError(path_ + ": damaged graph cache: " + why);
}

GraphCache::GraphCache(std::string path)
    : path_(std::move(path)), file_(std::make_shared<const MappedFile>(path_)) {
  const std::span<const std::byte> bytes = file_->bytes();
  if (bytes.size() < sizeof(Header)) damaged("shorter than a header");
  std::memcpy(&header_, bytes.data(), sizeof(Header));
  if (header_.magic != magic) throw InputError(path_ + ": not a graph cache");
  if (header_.byte_order != native_byte_order) {
    throw InputError(path_ + ": graph cache of a machine with another byte order");
  }
  if (header_.version != version) {
    throw InputError(path_ + ": graph cache of format " + std::to_string(header_.version) +
                     ", this program reads " + std::to_string(version));
  }
  if (header_.header_checksum != header_checksum(header_)) damaged("the header's checksum differs");
  // No number of elements is believed that the file has no bytes for; first, that bytes are counted
  // in 64 bits.
  constexpr EdgeIndex most_links = EdgeIndex{1} << 56;
  if (header_.nodes == 0 || header_.nodes > max_node_count || header_.links > most_links ||
      header_.distinct_links > header_.links || (header_.flags & ~std::uint64_t{all_flags}) != 0 ||
      ((header_.flags & weighted) != 0 && header_.links == 0) ||
      header_.more_unlinked > max_node_count - header_.nodes ||
      (header_.more_unlinked > 0 && (header_.flags & labelled) == 0) ||
      header_.reserved != decltype(header_.reserved){}) {
    damaged("the header makes no sense");
  }
  if (header_.file_bytes != layout_of(header_).file_bytes) damaged("the header makes no sense");
  if (header_.file_bytes != bytes.size()) {
    const std::string why = "it has " + std::to_string(bytes.size()) + " bytes, expected " +
                            std::to_string(header_.file_bytes);
    damaged(why.c_str());
  }
  info_ = {.stamp = {.bytes = header_.source_bytes,
                     .modified_ns = header_.source_modified_ns,
                     .sample = header_.source_sample},
           .format = (header_.flags & edge_list) != 0 ? GraphFormat::edge_list
                                                      : GraphFormat::matrix_market,
           .source_index =
               (header_.flags & source_is_column) != 0 ? SourceIndex::column : SourceIndex::row,
           .symmetric = (header_.flags & symmetric) != 0,
           .entries = header_.entries};
}

CachedGraph GraphCache::load(int threads) const {
  const std::span<const std::byte> bytes = file_->bytes();
  const Layout layout = layout_of(header_);
  const Contents contents = contents_of(bytes, layout);
  ContentCheck content(header_, contents);
  const std::uint64_t found =
      content_checksum(contents, thread_count(threads),
                       [&content](Section section, std::size_t first, std::size_t size) {
                         content.check(section, first, size);
                       });
  if (found != header_.content_checksum) damaged("the checksum differs");
  if (!gaps_are_zero(bytes, layout)) damaged("bytes between its sections are not 0");
  if (const char* fault = content.fault()) damaged(fault);

  const auto view = [&](auto& array, Section section) {
    using Array = std::remove_reference_t<decltype(array)>;
    using Number = std::remove_cvref_t<decltype(array[0])>;
    array = Array(file_, numbers<Number>(contents[section]));
  };
  CachedGraph graph{.info = info_};
  TransitionMatrix& matrix = graph.matrix;
  view(matrix.in_links.row_offsets, row_offsets);
  view(matrix.in_links.column_indices, column_indices);
  view(matrix.in_links.values, values);
  view(matrix.inverse_out_weight, inverse_out_weight);
  view(graph.labels, labels);
  matrix.dangling = content.dangling();
  matrix.distinct_links = header_.distinct_links;
  matrix.more_unlinked = static_cast<NodeId>(header_.more_unlinked);
  return graph;
}

bool is_graph_cache(const std::string& path) {
  if (path == "-") return false;
  if (path.ends_with(extension)) return true;
  const Descriptor file(path);
  decltype(Header::magic) begin{};
  return file.status() && file.read_at(0, std::as_writable_bytes(std::span(begin))) &&
         begin == magic;
}

std::string graph_cache_path(const std::string& graph, const std::string& directory) {
  if (directory.empty()) return graph + extension;
  std::error_code unknown;
  fs::path whole = fs::canonical(graph, unknown);
  if (unknown) whole = fs::absolute(graph, unknown);
  std::uint64_t hash = checksum(std::as_bytes(std::span(whole.native())));
  std::string digits;
  for (int digit = 0; digit < 16; ++digit, hash >>= 4) digits += "0123456789abcdef"[hash & 15];
  const fs::path name = whole.filename().string() + "." + digits + extension;
  return (fs::path(directory) / name).string();
}

}  // namespace pagerank::io
