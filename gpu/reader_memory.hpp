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

/// Device bytes for so many entries and the matrix of them while it is built.
[[nodiscard]] std::size_t bytes_to_build(std::uint64_t entries, const MatrixShape& shape);

/// Room for entries in the memory of a device, beside all else that reading and building takes.
struct EntryRoom {
  std::uint64_t entries = 0;
  std::size_t needed = 0;     ///< Bytes, for all entries that are expected,
  std::size_t available = 0;  ///< of so many.
};

/// Room for all entries that are expected; for fewer only where nobody knows yet whether so many
/// come. `parser_bytes`: of the parser, without the entries. Throws OutOfMemory with `device`, its
/// name, where there is not enough.
[[nodiscard]] EntryRoom room_for_entries(const EntryTextShape& text, const MatrixShape& matrix,
                                         std::size_t parser_bytes, std::size_t available,
                                         const std::string& device);

}  // namespace pagerank::gpu
