#include "gpu/reader_memory.hpp"

#include <algorithm>

#include "core/pagerank.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::size_t number_bytes = sizeof(std::uint64_t);
/// Of sorts and scans.
constexpr std::size_t algorithm_bytes = std::size_t{64} << 20;

/// A header may claim any number; no device has room for so many, and sums of these do not wrap.
std::uint64_t countable(std::uint64_t entries) {
  return std::min(entries, std::uint64_t{1} << 56);
}

std::size_t weight_bytes(const EntryFormat& format) {
  return format.weights == EntryFormat::Weights::none ? 0 : sizeof(double);
}

/// What so many entries take until the matrix is built.
std::size_t bytes_to_read(std::uint64_t entries, const EntryFormat& format,
                          const MatrixShape& matrix, const ParserMemory& parser) {
  const std::size_t own = countable(entries) * bytes_of_entry(format);
  std::size_t most = std::max(own, bytes_to_build(entries, matrix));
  if (format.labelled) most = std::max(most, own + bytes_to_number(entries, LabelRange()));
  return parser.bytes + most;
}

}  // namespace

bool LabelRange::is_close(std::uint64_t entries) const {
  constexpr std::uint64_t values_an_entry = 16, always = std::uint64_t{1} << 23;
  return most - least < entries * values_an_entry + always;
}

std::size_t bytes_of_entry(const EntryFormat& format) {
  return (format.labelled ? 2 : 1) * number_bytes + weight_bytes(format);
}

std::size_t bytes_of_numbered_entry(bool weighted) {
  return number_bytes + (weighted ? sizeof(double) : 0);
}

std::size_t bytes_to_number(std::uint64_t entries, const LabelRange& range) {
  entries = countable(entries);
  if (!range.is_close(entries)) return 4 * entries * number_bytes + algorithm_bytes;
  const std::uint64_t most_nodes = std::min(2 * entries, range.most - range.least + 1);
  return (2 * range.words() + 1 + entries + most_nodes) * number_bytes + algorithm_bytes;
}

std::size_t bytes_to_build(std::uint64_t entries, const MatrixShape& shape) {
  entries = countable(entries);
  const std::uint64_t links = entries * (shape.symmetric ? 2 : 1);
  const std::size_t link = bytes_of_numbered_entry(shape.weighted);
  const std::size_t sorting = 2 * links * link;
  // Entries and where their links begin stay until both links are made.
  const std::size_t expanding =
      shape.symmetric ? entries * (link + number_bytes) + links * link : 0;
  constexpr std::size_t of_node = 32;
  return std::max(sorting, expanding) + links * (link - sizeof(NodeId)) + shape.nodes * of_node +
         algorithm_bytes;
}

EntryRoom room_for_entries(const EntryTextShape& text, const MatrixShape& matrix,
                           const ParserMemory& parser, std::size_t available,
                           const std::string& device) {
  const auto bytes_for = [&](std::uint64_t entries) {
    return bytes_to_read(entries, text.format, matrix, parser);
  };
  std::uint64_t expected = text.expected_entries;
  if (!text.declares_entries()) {
    expected += expected / 64;
    expected += std::min(4 * expected, parser.entries_in_flight);
  }
  EntryRoom room{expected, bytes_for(expected), available};
  if (room.needed <= available) return room;
  if (text.entries_are_there || bytes_for(0) > available) {
    throw OutOfMemory(device, room.needed, available);
  }
  std::uint64_t least = 0, most = expected;  // fits, does not
  while (most - least > 1) {
    const std::uint64_t middle = least + (most - least) / 2;
    (bytes_for(middle) <= available ? least : most) = middle;
  }
  room.entries = least;
  return room;
}

EntryRoom larger_room(const EntryRoom& room, std::uint64_t entries, const EntryFormat& format,
                      std::size_t held, std::size_t available, const std::string& device) {
  const std::size_t entry = bytes_of_entry(format);
  const std::uint64_t fitting = available > held ? (available - held) / entry : 0;
  const std::uint64_t larger = std::max(entries, std::min(2 * room.entries, fitting));
  const std::size_t needed = held + larger * entry;
  if (needed > available) throw OutOfMemory(device, needed, available);
  return {larger, needed, available};
}

}  // namespace pagerank::gpu
