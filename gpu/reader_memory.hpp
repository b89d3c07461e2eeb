#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/edge_list.hpp"
#include "gpu/entry_source.hpp"

namespace pagerank::gpu {

/// What is known of the entries that a matrix is made of.
struct MatrixShape {
  std::uint64_t nodes = 0;
  bool weighted = false;
  bool symmetric = false;  ///< An entry off the diagonal is two links.
  SourceIndex source_index = SourceIndex::row;
};

/// The least label and the greatest of some nodes.
struct LabelRange {
  std::uint64_t least = 0, most = 0;

  static constexpr unsigned word_bits = 64;
  /// Of a bit for every value between them.
  [[nodiscard]] std::uint64_t words() const { return (most - least) / word_bits + 1; }

  /// Whether those of so many entries lie close together, as LabelledLinks decides it: nodes are
  /// then numbered by such bits, else by sorting.
  [[nodiscard]] bool is_close(std::uint64_t entries) const;
};

/// Device bytes of an entry while text is parsed,
[[nodiscard]] std::size_t bytes_of_entry(const EntryFormat& format);
/// and of one between nodes that are numbered.
[[nodiscard]] std::size_t bytes_of_numbered_entry(bool weighted);

/// Device bytes that numbering the nodes of so many entries takes besides them.
[[nodiscard]] std::size_t bytes_to_number(std::uint64_t entries, const LabelRange& range);

/// Device bytes for so many entries and the matrix of them while it is built.
[[nodiscard]] std::size_t bytes_to_build(std::uint64_t entries, const MatrixShape& shape);

/// What a parser takes.
struct ParserMemory {
  std::size_t bytes = 0;  ///< Without the entries.
  /// Where nobody says how many entries come, there must be room for so many more than are there:
  /// of text that is being parsed.
  std::uint64_t entries_in_flight = 0;
};

/// Room for entries in the memory of a device, beside all else that reading and building takes.
struct EntryRoom {
  std::uint64_t entries = 0;
  std::size_t needed = 0;     ///< Bytes, for all entries that are expected,
  std::size_t available = 0;  ///< of so many.
};

/// Room for all entries that are expected; for fewer only where nobody knows yet whether so many
/// come. Of a text without a header that is a guess: for somewhat more, rather than to move them
/// all, and of labels it is taken that they lie close together, between few nodes. Throws
/// OutOfMemory with `device`, its name, where there is not enough.
[[nodiscard]] EntryRoom room_for_entries(const EntryTextShape& text, const MatrixShape& matrix,
                                         const ParserMemory& parser, std::size_t available,
                                         const std::string& device);

/// Room for at least so many entries in place of less, of a text without a header: twice as much,
/// or as much as there is memory for beside the `held` bytes of the parser and the old room, from
/// which entries are copied. Throws OutOfMemory.
[[nodiscard]] EntryRoom larger_room(const EntryRoom& room, std::uint64_t entries,
                                    const EntryFormat& format, std::size_t held,
                                    std::size_t available, const std::string& device);

}  // namespace pagerank::gpu
