#pragma once

#include <array>
#include <string>

#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/device_buffer.cuh"
#include "gpu/entry_reader.hpp"
#include "gpu/reader_memory.hpp"

namespace pagerank::gpu {

/// The entries of a matrix in device memory, in the order of the text: row in the upper half,
/// column in the lower one.
struct DeviceEntries {
  std::uint64_t count = 0;
  DeviceBuffer<std::uint64_t> places;
  DeviceBuffer<double> weights;  ///< None where the format has none.

  [[nodiscard]] std::size_t bytes() const {
    return places.size() * sizeof(std::uint64_t) + weights.size() * sizeof(double);
  }
};

/// Entries whose rows and columns are labels, in the order of the text.
struct LabelledEntries {
  std::uint64_t count = 0;
  DeviceBuffer<std::uint64_t> labels;  ///< Two an entry, row and column.
  DeviceBuffer<double> weights;        ///< None where the format has none.

  [[nodiscard]] std::size_t bytes() const {
    return labels.size() * sizeof(std::uint64_t) + weights.size() * sizeof(double);
  }
};

/// What kernels say of a chunk.
struct ChunkCounts {
  std::uint32_t lines = 0, entries = 0;
  unsigned long long unknown = 0;
  std::uint64_t entries_before = 0;  ///< In all chunks before it.
};

/// Parses on the current device. Text travels and is parsed in streams of its own, so that the bus
/// does not wait for the kernels.
class DeviceTextParser final : public ChunkParser {
 public:
  /// Where a header says how many entries there are, for no more than there is room for, else there
  /// will be more room as it takes. `buffer_bytes`: of a block. Throws OutOfMemory.
  DeviceTextParser(const EntryTextShape& shape, const EntryRoom& room, std::size_t buffer_bytes,
                   DeviceMemory memory);
  ~DeviceTextParser() override;

  [[nodiscard]] static ParserMemory memory(std::size_t buffer_bytes);

  [[nodiscard]] std::size_t most_chunks() const override { return chunks_in_flight; }
  [[nodiscard]] std::size_t most_blocks() const override { return blocks_in_chunk; }
  void submit(std::span<const std::string_view> texts) override;
  [[nodiscard]] Parsed finish_oldest() override;
  [[nodiscard]] bool oldest_is_finished() override;
  void insert(std::span<const Known> entries) override;
  void require_room(std::uint64_t entries) const override;

  /// All of them, `count` as read_entries() says. The one or the other, as the format has it.
  [[nodiscard]] DeviceEntries take_entries(std::uint64_t count);
  [[nodiscard]] LabelledEntries take_labelled_entries(std::uint64_t count);

 private:
  static constexpr std::size_t chunks_in_flight = 3, blocks_in_chunk = 8;

  /// A chunk's place on the device.
  struct Chunk {
    DeviceBuffer<char> text;
    DeviceBuffer<std::uint64_t> tile_counts;
    DeviceBuffer<Unknown> unknown;
    DeviceBuffer<ChunkCounts> counts;
    std::uint32_t bytes = 0;
    Event arrived, parsed;
  };

  /// Of a chunk, joints included.
  [[nodiscard]] static constexpr std::size_t most_bytes(std::size_t buffer_bytes) {
    return blocks_in_chunk * (buffer_bytes + 2 * TextRing::padding);
  }
  /// "1 1\n": lines that are shorter are bad.
  [[nodiscard]] static constexpr std::uint64_t most_good_entries(std::size_t bytes) {
    return bytes / 4;
  }
  void make_room(std::uint64_t entries);
  void parse_up_to(std::uint64_t end);
  void parse(Chunk& chunk);

  EntryTextShape shape_;
  DeviceMemory memory_;
  std::size_t own_bytes_;
  EntryRoom room_;
  std::uint64_t most_entries_ = 0;  ///< Of all chunks whose kernels are queued, if they are good.
  Stream copies_, kernels_, repairs_;
  DeviceBuffer<std::uint64_t> places_;
  DeviceBuffer<double> weights_;
  DeviceBuffer<std::uint64_t> entries_so_far_;
  std::array<Chunk, chunks_in_flight> chunks_;
  PinnedArray<ChunkCounts> counts_{chunks_in_flight};
  std::uint64_t submitted_ = 0, parsing_ = 0, finished_ = 0;  ///< Chunks.
};

}  // namespace pagerank::gpu
