#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// How a graph cache (.prgraph) is laid out: a transition matrix as it lies in memory, so that a
/// mapped file can be used in place.
///
///     header              128 bytes
///     row_offsets         nodes + 1    u64
///     column_indices      links        u32
///     values              links        f64, if the flag `weighted` is set
///     inverse_out_weight  nodes        f64
///     labels              nodes        u64, if `labelled`: what the nodes are called outside,
///                                      ascending; one less if the last stands for several
///
/// Each section begins at the next multiple of 64 bytes; the bytes between and after them are 0,
/// and the file ends at such a multiple. All numbers are in the byte order of the machine that
/// wrote them. Where the sections lie follows from the header's counts and flags alone.
namespace pagerank::io::graph_cache {

/// To be raised when the layout changes, and when the same text gives another matrix.
inline constexpr std::uint32_t version = 2;

inline constexpr std::array<char, 8> magic = {'P', 'R', 'G', 'R', 'A', 'P', 'H', '\n'};
inline constexpr std::uint32_t native_byte_order = 0x0102'0304;

enum Flag : std::uint64_t {
  source_is_column = 1,  ///< Built with --source column.
  symmetric = 2,         ///< The text's header said so.
  weighted = 4,          ///< Only with links: there is no difference without.
  labelled = 8,
  edge_list = 16,  ///< The text was one.
  all_flags = 31
};

struct Header {
  std::array<char, 8> magic = graph_cache::magic;
  std::uint32_t byte_order = native_byte_order;
  std::uint32_t version = graph_cache::version;
  std::uint64_t file_bytes = 0;
  std::uint64_t header_checksum = 0;   ///< header_checksum() of this.
  std::uint64_t content_checksum = 0;  ///< content_checksum() of the sections.
  std::uint64_t flags = 0;
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;           ///< Stored elements.
  std::uint64_t distinct_links = 0;  ///< TransitionMatrix::distinct_links
  std::uint64_t entries = 0;         ///< Of the text.

  // The text that the matrix was made from: SourceStamp.
  std::uint64_t source_bytes = 0;
  std::int64_t source_modified_ns = 0;
  std::uint64_t source_sample = 0;

  std::uint64_t more_unlinked = 0;  ///< TransitionMatrix::more_unlinked

  std::array<std::uint64_t, 2> reserved = {};  ///< 0
};
static_assert(sizeof(Header) == 128);

enum Section : std::size_t {
  row_offsets,
  column_indices,
  values,
  inverse_out_weight,
  labels,
  section_count
};

/// The bytes of each section, without what fills the gaps.
using Contents = std::array<std::span<const std::byte>, section_count>;

struct Extent {
  std::uint64_t begin = 0;  ///< Byte of the file.
  std::uint64_t bytes = 0;
};

struct Layout {
  std::array<Extent, section_count> sections;
  std::uint64_t file_bytes = 0;
};

inline constexpr std::uint64_t alignment = 64;

/// What the header's counts and flags say; nodes and links below 2^56.
[[nodiscard]] Layout layout_of(const Header& header);

/// The sections of a file of that layout, which it must be long enough for.
[[nodiscard]] Contents contents_of(std::span<const std::byte> file, const Layout& layout);

/// XXH3_64bits of the bytes.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

/// checksum() of the header with header_checksum 0.
[[nodiscard]] std::uint64_t header_checksum(Header header);

inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// checksum() of the checksums, in order, of the sections' pieces: each section is cut into pieces
/// of piece_bytes, the last of which may be shorter. While a piece is in the cache,
/// visit(section, first, bytes) is called for it, from several threads.
[[nodiscard]] std::uint64_t content_checksum(
    const Contents& contents, int threads,
    const std::function<void(Section section, std::size_t first, std::size_t bytes)>& visit);

}  // namespace pagerank::io::graph_cache
