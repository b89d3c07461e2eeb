#include "io/graph_cache_format.hpp"

// Compiled in: it is as fast, and no program needs the library where it runs.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"

namespace pagerank::io::graph_cache {

Layout layout_of(const Header& header) {
  const auto present = [&header](Flag flag) { return (header.flags & flag) != 0 ? 1U : 0U; };
  const std::array<std::uint64_t, section_count> bytes = {
      (header.nodes + 1) * sizeof(std::uint64_t), header.links * sizeof(std::uint32_t),
      present(weighted) * header.links * sizeof(double), header.nodes * sizeof(double),
      present(labelled) * (header.nodes - (header.more_unlinked > 0 ? 1 : 0)) *
          sizeof(std::uint64_t)};
  const auto aligned = [](std::uint64_t at) {
    return (at + alignment - 1) / alignment * alignment;
  };
  Layout layout;
  std::uint64_t at = sizeof(Header);
  for (std::size_t s = 0; s < section_count; ++s) {
    layout.sections[s] = {at, bytes[s]};
    at = aligned(at + bytes[s]);
  }
  layout.file_bytes = at;
  return layout;
}

Contents contents_of(std::span<const std::byte> file, const Layout& layout) {
  Contents contents;
  for (std::size_t s = 0; s < section_count; ++s) {
    contents[s] = file.subspan(layout.sections[s].begin, layout.sections[s].bytes);
  }
  return contents;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t header_checksum(Header header) {
  header.header_checksum = 0;
  return checksum(std::as_bytes(std::span(&header, 1)));
}

std::uint64_t content_checksum(
    const Contents& contents, int threads,
    const std::function<void(Section section, std::size_t first, std::size_t bytes)>& visit) {
  struct Piece {
    Section section;
    std::size_t first, bytes;
  };
  std::vector<Piece> pieces;
  for (std::size_t s = 0; s < section_count; ++s) {
    for (std::size_t first = 0; first < contents[s].size(); first += piece_bytes) {
      pieces.push_back({Section{s}, first, std::min(piece_bytes, contents[s].size() - first)});
    }
  }
  std::vector<std::uint64_t> sums(pieces.size());
  parallel_for(pieces.size(), threads, [&](std::size_t p) {
    const Piece& piece = pieces[p];
    sums[p] = checksum(contents[piece.section].subspan(piece.first, piece.bytes));
    visit(piece.section, piece.first, piece.bytes);
  });
  return checksum(std::as_bytes(std::span(sums)));
}

}  // namespace pagerank::io::graph_cache
