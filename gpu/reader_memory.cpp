#include "gpu/reader_memory.hpp"

#include <algorithm>

#include "core/pagerank.hpp"

namespace pagerank::gpu {

std::size_t bytes_to_build(std::uint64_t entries, const MatrixShape& shape) {
  // A header may claim any number; no device has room for so many, and sums of these do not wrap.
  entries = std::min(entries, std::uint64_t{1} << 56);
  const std::uint64_t links = entries * (shape.symmetric ? 2 : 1);
  const std::size_t link = sizeof(std::uint64_t) + (shape.weighted ? sizeof(double) : 0);
  const std::size_t sorting = 2 * links * link;
  // Entries and where their links begin stay until both links are made.
  const std::size_t expanding =
      shape.symmetric ? entries * (link + sizeof(std::uint64_t)) + links * link : 0;
  constexpr std::size_t of_node = 32, of_sort = std::size_t{64} << 20;
  return std::max(sorting, expanding) + links * (link - sizeof(NodeId)) + shape.nodes * of_node +
         of_sort;
}

EntryRoom room_for_entries(const EntryTextShape& text, const MatrixShape& matrix,
                           std::size_t parser_bytes, std::size_t available,
                           const std::string& device) {
  const auto bytes_for = [&](std::uint64_t entries) {
    return parser_bytes + bytes_to_build(entries, matrix);
  };
  EntryRoom room{text.expected_entries, bytes_for(text.expected_entries), available};
  if (room.needed <= available) return room;
  if (text.entries_are_there || bytes_for(0) > available) {
    throw OutOfMemory(device, room.needed, available);
  }
  std::uint64_t least = 0, most = text.expected_entries;  // fits, does not
  while (most - least > 1) {
    const std::uint64_t middle = least + (most - least) / 2;
    (bytes_for(middle) <= available ? least : most) = middle;
  }
  room.entries = least;
  return room;
}

}  // namespace pagerank::gpu
