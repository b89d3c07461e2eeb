#pragma once

#include <cstdint>

#include "gpu/entry_line.hpp"

/// How the threads of a GPU share out a text of whole lines: a tile a block of threads, a piece of
/// it a thread; the one where a line begins owns it.
namespace pagerank::gpu {

inline constexpr unsigned piece_bytes = 64;
inline constexpr unsigned pieces_per_tile = 256;
inline constexpr unsigned tile_bytes = piece_bytes * pieces_per_tile;

/// What must be there to be read behind a text, besides what fills its last tile.
inline constexpr unsigned text_padding = 16;

namespace detail {

/// Bit i: byte i of the eight is a newline.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t newlines_of_eight(std::uint64_t word) {
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F, newlines = 0x0A0A0A0A0A0A0A0A;
  const std::uint64_t other = word ^ newlines;  // 0 in the bytes that are newlines
  const std::uint64_t found = ~(((other & low_bits) + low_bits) | other | low_bits);
  return (found >> 7) * 0x0102040810204080 >> 56;
}

}  // namespace detail

/// The lines that begin in the piece from `begin` on, of a text of `bytes`: bit i for the line at
/// text[begin + i]. The text lies aligned to 8 bytes.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t line_begins(const char* text,
                                                                    std::uint32_t begin,
                                                                    std::uint32_t bytes) {
  if (begin >= bytes) return 0;
  std::uint64_t newlines = 0;
  for (unsigned i = 0; i < piece_bytes; i += 8) {
    newlines |= detail::newlines_of_eight(load_eight(text + begin + i)) << i;
  }
  std::uint64_t begins = newlines << 1;
  if (begin == 0 || text[begin - 1] == '\n') begins |= 1;
  if (bytes - begin < piece_bytes) begins &= (std::uint64_t{1} << (bytes - begin)) - 1;
  return begins;
}

/// Of these lines those that hold an entry, or what should be one.
[[nodiscard]] PAGERANK_HOST_DEVICE inline std::uint64_t entry_begins(const char* piece,
                                                                     std::uint64_t begins,
                                                                     const EntryFormat& format) {
  std::uint64_t entries = 0;
  for (std::uint64_t rest = begins; rest != 0; rest &= rest - 1) {
    const int at = lowest_bit(rest);
    if (holds_entry(piece + at, format)) entries |= std::uint64_t{1} << at;
  }
  return entries;
}

}  // namespace pagerank::gpu
