#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/entry_source.hpp"
#include "gpu/text_ring.hpp"

namespace pagerank::gpu {

/// Parses chunks of text one after another, several of which may be under way, into entries in the
/// order of the text.
class ChunkParser {
 public:
  ChunkParser() = default;
  ChunkParser(const ChunkParser&) = delete;
  ChunkParser& operator=(const ChunkParser&) = delete;
  virtual ~ChunkParser() = default;

  /// So many chunks may be under way at once,
  [[nodiscard]] virtual std::size_t most_chunks() const = 0;
  /// and a chunk have so many blocks.
  [[nodiscard]] virtual std::size_t most_blocks() const = 0;

  /// Begins with a chunk, made of texts whose lines all end with a newline. Texts stay where they
  /// are until finish_oldest(). Throws OutOfMemory.
  virtual void submit(std::span<const std::string_view> texts) = 0;

  /// A line with what should be an entry, which this parser does not know.
  struct Unknown {
    std::uint32_t begin;  ///< Where in the chunk, its texts joined,
    std::uint32_t entry;  ///< and the how manyeth entry of it, from 0.
  };
  struct Parsed {
    std::uint32_t lines = 0, entries = 0;
    std::vector<Unknown> unknown;  ///< In any order.
  };
  /// Of the oldest chunk that is under way; waits for it.
  [[nodiscard]] virtual Parsed finish_oldest() = 0;
  [[nodiscard]] virtual bool oldest_is_finished() = 0;

  /// An entry that another parsed.
  struct Known {
    std::uint64_t place;  ///< Among all entries, from 0.
    ParsedEntry entry;
  };
  virtual void insert(std::span<const Known> entries) = 0;
  /// So many by one copy on a device, so that they take no memory to speak of.
  static constexpr std::size_t known_at_once = 1 << 16;

  /// Throws OutOfMemory if there is no room for so many entries.
  virtual void require_room(std::uint64_t entries) const = 0;
};

/// Hands all text from the ring to the parser; returns the number of entries. Lines that the parser
/// does not know are parsed here, by `threads`. Where anything is wrong the source is asked, which
/// throws: the same errors as its own reader's. Throws what the parser throws, too, of OutOfMemory
/// once all text that it was handed is found to be right.
std::uint64_t read_entries(EntrySource& source, TextRing& ring, ChunkParser& parser, int threads);

}  // namespace pagerank::gpu
