#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/edge_list.hpp"
#include "core/shared_array.hpp"
#include "core/transition_matrix.hpp"
#include "io/graph_cache_format.hpp"
#include "io/graph_format.hpp"
#include "io/mapped_file.hpp"

namespace pagerank::io {

/// The state of a file, so that a cache of it can tell whether it is still the same.
struct SourceStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< Since 1970.
  /// Checksum of its first and last 64 KiB: clocks of file systems tick some milliseconds, and
  /// copies of different files may be given the same time.
  std::uint64_t sample = 0;

  friend bool operator==(const SourceStamp&, const SourceStamp&) = default;
};

/// Unset for what is not a regular file, or called by a descriptor (standard input, "-", too), or
/// cannot be read.
[[nodiscard]] std::optional<SourceStamp> source_stamp(const std::string& path);

/// What a cache says about the graph beside the matrix.
struct GraphCacheInfo {
  SourceStamp stamp;                                ///< Of the text,
  GraphFormat format = GraphFormat::matrix_market;  ///< what it was read as,
  SourceIndex source_index = SourceIndex::row;      ///< and how,
  bool symmetric = false;                           ///< what its header said,
  std::uint64_t entries = 0;                        ///< and how many it stored.
};

struct CachedGraph {
  GraphCacheInfo info;
  TransitionMatrix matrix;
  SharedArray<std::uint64_t> labels;  ///< NodeLabels
};

/// Writes the graph for GraphCache to read, atomically; needs no memory to speak of. Group and
/// others may not do with it what they may not with the file `made_of`, if one is named. Throws
/// OutputError; std::invalid_argument if there are labels, but not one a node.
void write_graph_cache(const std::string& path, const CachedGraph& graph, int threads = 0,
                       const std::string& made_of = {});

/// A file that write_graph_cache() made, mapped into memory (see MappedFile for what that asks of
/// it). Nothing in the file is believed before it has been checked: a file that is damaged, or made
/// to do harm, is refused or gives a matrix that keeps to CsrMatrix's rules, with elements in
/// [0, 2] and inverse out-weights in [0, 1]; whether the elements of a column add up to 1 is left
/// to the checksum.
class GraphCache {
 public:
  /// Looks at the header only. Throws InputError, which says what is wrong with the file.
  explicit GraphCache(std::string path);

  [[nodiscard]] const GraphCacheInfo& info() const { return info_; }
  [[nodiscard]] std::uint64_t node_count() const { return header_.nodes; }

  /// Checks all the rest. The arrays of the result are views into the file, which stays mapped as
  /// long as they exist. Throws InputError.
  [[nodiscard]] CachedGraph load(int threads = 0) const;

 private:
  [[noreturn]] void damaged(const char* why) const;

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  graph_cache::Header header_;
  GraphCacheInfo info_;
};

/// Whether a GRAPH is to be read as a graph cache: by its name (.prgraph) or, a regular file, by
/// how it begins.
[[nodiscard]] bool is_graph_cache(const std::string& path);

/// Where the cache of a graph belongs: beside it, or in `directory` (unless empty) under a name
/// that no other graph's cache has, whatever directory that graph is in.
[[nodiscard]] std::string graph_cache_path(const std::string& graph, const std::string& directory);

}  // namespace pagerank::io
