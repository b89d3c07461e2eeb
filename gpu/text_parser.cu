#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <utility>

#include "core/pagerank.hpp"
#include "gpu/csr_view.cuh"
#include "gpu/text_parser.cuh"
#include "gpu/text_tiles.hpp"

namespace pagerank::gpu {
namespace {

constexpr unsigned scan_threads = 1024;
/// An entry takes a character and a newline at least.
constexpr unsigned most_entries_of_tile = tile_bytes / 2;

/// Counts of a tile, or of all before it, as one number: what a chunk has fits 32 bits.
[[nodiscard]] __host__ __device__ std::uint64_t packed(std::uint32_t lines, std::uint32_t entries) {
  return std::uint64_t{lines} << 32 | entries;
}
[[nodiscard]] __device__ std::uint32_t lines_in(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}
[[nodiscard]] __device__ std::uint32_t entries_in(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts);
}

/// counts[tile] = lines and entries that begin in it.
__global__ void __launch_bounds__(pieces_per_tile)
    count_entries(const char* text, std::uint32_t bytes, EntryFormat format,
                  std::uint64_t* counts) {
  const std::uint32_t piece = blockIdx.x * tile_bytes + threadIdx.x * piece_bytes;
  const std::uint64_t lines = line_begins(text, piece, bytes);
  const std::uint64_t entries = entry_begins(text + piece, lines, format);
  using Reduce = cub::BlockReduce<std::uint64_t, pieces_per_tile>;
  __shared__ typename Reduce::TempStorage storage;
  const std::uint64_t sum = Reduce(storage).Sum(packed(__popcll(lines), __popcll(entries)));
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

/// counts[tile] = those of all tiles before it; *chunk and *entries_so_far brought up to date.
__global__ void __launch_bounds__(scan_threads)
    scan_counts(std::uint64_t* counts, unsigned tiles, ChunkCounts* chunk,
                std::uint64_t* entries_so_far) {
  using Scan = cub::BlockScan<std::uint64_t, scan_threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t before = 0;
  for (unsigned first = 0; first < tiles; first += scan_threads) {
    const unsigned tile = first + threadIdx.x;
    const std::uint64_t own = tile < tiles ? counts[tile] : 0;
    std::uint64_t sum = 0, all = 0;
    Scan(storage).ExclusiveSum(own, sum, all);
    if (tile < tiles) counts[tile] = before + sum;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  *chunk = {lines_in(before), entries_in(before), 0, *entries_so_far};
  *entries_so_far += entries_in(before);
}

[[nodiscard]] std::uint64_t places_of_entry(const EntryFormat& format) {
  return format.labelled ? 2 : 1;
}

/// Where entries go.
struct EntryArrays {
  std::uint64_t* places;
  bool labelled;    ///< Two an entry, or one of two halves.
  double* weights;  ///< Null where the format has none.
  std::uint64_t capacity;

  __device__ void store(std::uint64_t at, const ParsedEntry& entry) const {
    if (at >= capacity) return;
    if (labelled) {
      places[2 * at] = entry.row;
      places[2 * at + 1] = entry.column;
    } else {
      places[at] = entry.row << 32 | entry.column;
    }
    if (weights != nullptr) weights[at] = entry.weight;
  }
};

/// A block finds where entries begin in its tile, and then has its threads parse them in turn, so
/// that neighbours write to neighbouring places.
__global__ void __launch_bounds__(pieces_per_tile)
    parse_entries(const char* text, std::uint32_t bytes, EntryFormat format,
                  const std::uint64_t* counts_before, EntryArrays arrays, ChunkCounts* chunk,
                  ChunkParser::Unknown* unknown) {
  __shared__ std::uint16_t begins[most_entries_of_tile];
  using Scan = cub::BlockScan<std::uint32_t, pieces_per_tile>;
  __shared__ typename Scan::TempStorage storage;
  const std::uint32_t tile = blockIdx.x * tile_bytes, offset = threadIdx.x * piece_bytes;
  std::uint64_t entries =
      entry_begins(text + tile + offset, line_begins(text, tile + offset, bytes), format);
  std::uint32_t rank = 0, count = 0;
  Scan(storage).ExclusiveSum(static_cast<std::uint32_t>(__popcll(entries)), rank, count);
  for (; entries != 0; entries &= entries - 1) {
    begins[rank++] = static_cast<std::uint16_t>(offset + lowest_bit(entries));
  }
  __syncthreads();
  const std::uint32_t before = entries_in(counts_before[blockIdx.x]);
  for (std::uint32_t i = threadIdx.x; i < count; i += pieces_per_tile) {
    const std::uint32_t begin = tile + begins[i];
    ParsedEntry entry;
    if (parse_entry_line(text + begin, format, entry)) {
      arrays.store(chunk->entries_before + before + i, entry);
    } else {
      unknown[atomicAdd(&chunk->unknown, 1ULL)] = {begin, before + i};
    }
  }
}

__global__ void store_entries(const ChunkParser::Known* known, std::uint64_t count,
                              EntryArrays arrays) {
  const std::uint64_t i = global_thread_index();
  if (i < count) arrays.store(known[i].place, known[i].entry);
}

/// Makes an array larger, of which so much is used, once the stream has come that far.
template <class T>
void enlarge(DeviceBuffer<T>& buffer, std::size_t used, std::size_t size, const Stream& stream) {
  DeviceBuffer<T> larger(size);
  if (used > 0) {
    PAGERANK_CUDA(cudaMemcpyAsync(larger.data(), buffer.data(), used * sizeof(T),
                                  cudaMemcpyDeviceToDevice, stream));
  }
  stream.wait();
  buffer = std::move(larger);
}

/// Of a chunk's text, filled up to whole tiles and what is read behind them.
constexpr std::size_t text_bytes(std::size_t bytes) {
  return (bytes / tile_bytes + 1) * tile_bytes + text_padding;
}

}  // namespace

ParserMemory DeviceTextParser::memory(std::size_t buffer_bytes) {
  const std::size_t chunk = most_bytes(buffer_bytes);
  return {.bytes = chunks_in_flight * (text_bytes(chunk) + chunk / 2 * sizeof(Unknown) +
                                       (chunk / tile_bytes + 1) * sizeof(std::uint64_t)) +
                   4096,
          .entries_in_flight = chunks_in_flight * most_good_entries(chunk)};
}

DeviceTextParser::DeviceTextParser(const EntryTextShape& shape, const EntryRoom& room,
                                   std::size_t buffer_bytes, DeviceMemory memory)
    : shape_(shape),
      memory_(std::move(memory)),
      own_bytes_(DeviceTextParser::memory(buffer_bytes).bytes),
      room_(room),
      places_(room.entries * places_of_entry(shape.format)),
      weights_(shape.format.weights == EntryFormat::Weights::none ? 0 : room.entries),
      entries_so_far_(1) {
  const std::size_t most = most_bytes(buffer_bytes);
  entries_so_far_.set_to_zero(kernels_);
  for (Chunk& chunk : chunks_) {
    chunk.text = DeviceBuffer<char>(text_bytes(most));
    chunk.tile_counts = DeviceBuffer<std::uint64_t>(most / tile_bytes + 1);
    chunk.unknown = DeviceBuffer<Unknown>(most / 2);
    chunk.counts = DeviceBuffer<ChunkCounts>(1);
    chunk.text.set_to_zero(copies_);  // what fills the last tile is read, though not used
  }
}

DeviceTextParser::~DeviceTextParser() {
  for (cudaStream_t stream :
       {cudaStream_t(copies_), cudaStream_t(kernels_), cudaStream_t(repairs_)}) {
    cudaStreamSynchronize(stream);  // they read buffers of ours, and of the host
  }
}

void DeviceTextParser::submit(std::span<const std::string_view> texts) {
  Chunk& chunk = chunks_[submitted_++ % chunks_in_flight];
  std::size_t bytes = 0;
  for (const std::string_view text : texts) {
    PAGERANK_CUDA(cudaMemcpyAsync(chunk.text.data() + bytes, text.data(), text.size(),
                                  cudaMemcpyHostToDevice, copies_));
    bytes += text.size();
  }
  chunk.bytes = static_cast<std::uint32_t>(bytes);
  chunk.arrived.record(copies_);
  // Where all streams share one way to the device (CUDA_DEVICE_MAX_CONNECTIONS) a copy that is
  // queued behind kernels waits for what those wait for: so this copy goes before the last chunk's
  // kernels.
  if (submitted_ > 1) parse_up_to(submitted_ - 1);
}

/// Room for so many entries, more than are there.
void DeviceTextParser::make_room(std::uint64_t entries) {
  if (entries <= room_.entries) return;
  const std::size_t held = own_bytes_ + room_.entries * bytes_of_entry(shape_.format);
  const EntryRoom larger =
      larger_room(room_, entries, shape_.format, held, memory_.available(held), memory_.device);
  const std::uint64_t used = std::min(most_entries_, room_.entries);
  const std::uint64_t places = places_of_entry(shape_.format);
  enlarge(places_, used * places, larger.entries * places, kernels_);
  if (shape_.format.weights != EntryFormat::Weights::none) {
    enlarge(weights_, used, larger.entries, kernels_);
  }
  room_ = larger;
}

/// Queues the kernels of all chunks before that one, if they are not.
void DeviceTextParser::parse_up_to(std::uint64_t end) {
  for (; parsing_ < end; ++parsing_) {
    const std::size_t index = parsing_ % chunks_in_flight;
    Chunk& chunk = chunks_[index];
    const std::uint64_t own = most_good_entries(chunk.bytes);
    if (!shape_.declares_entries()) make_room(most_entries_ + own);
    most_entries_ += own;
    PAGERANK_CUDA(cudaStreamWaitEvent(kernels_, chunk.arrived.get()));
    parse(chunk);
    PAGERANK_CUDA(cudaMemcpyAsync(counts_.data() + index, chunk.counts.data(), sizeof(ChunkCounts),
                                  cudaMemcpyDeviceToHost, kernels_));
    chunk.parsed.record(kernels_);
  }
}

void DeviceTextParser::parse(Chunk& chunk) {
  const unsigned tiles = (chunk.bytes + tile_bytes - 1) / tile_bytes;
  const char* const text = chunk.text.data();
  std::uint64_t* const tile_counts = chunk.tile_counts.data();
  if (tiles > 0) {
    count_entries<<<tiles, pieces_per_tile, 0, kernels_>>>(text, chunk.bytes, shape_.format,
                                                           tile_counts);
    PAGERANK_CUDA_LAUNCHED(count_entries);
  }
  scan_counts<<<1, scan_threads, 0, kernels_>>>(tile_counts, tiles, chunk.counts.data(),
                                                entries_so_far_.data());
  PAGERANK_CUDA_LAUNCHED(scan_counts);
  if (tiles > 0) {
    parse_entries<<<tiles, pieces_per_tile, 0, kernels_>>>(
        text, chunk.bytes, shape_.format, tile_counts,
        EntryArrays{places_.data(), shape_.format.labelled, weights_.data(), room_.entries},
        chunk.counts.data(), chunk.unknown.data());
    PAGERANK_CUDA_LAUNCHED(parse_entries);
  }
}

bool DeviceTextParser::oldest_is_finished() {
  return finished_ < parsing_ && chunks_[finished_ % chunks_in_flight].parsed.reached();
}

ChunkParser::Parsed DeviceTextParser::finish_oldest() {
  parse_up_to(finished_ + 1);
  const std::size_t index = finished_++ % chunks_in_flight;
  Chunk& chunk = chunks_[index];
  chunk.parsed.wait();
  const ChunkCounts& counts = counts_[index];
  Parsed parsed{counts.lines, counts.entries, {}};
  most_entries_ += counts.entries;
  most_entries_ -= most_good_entries(chunk.bytes);
  if (counts.unknown > 0) {
    parsed.unknown.resize(counts.unknown);
    PAGERANK_CUDA(cudaMemcpyAsync(parsed.unknown.data(), chunk.unknown.data(),
                                  counts.unknown * sizeof(Unknown), cudaMemcpyDeviceToHost,
                                  repairs_));
    repairs_.wait();
  }
  return parsed;
}

void DeviceTextParser::insert(std::span<const Known> entries) {
  constexpr unsigned block_size = 256;
  DeviceBuffer<Known> known(std::min(entries.size(), known_at_once));
  for (; !entries.empty(); entries = entries.subspan(std::min(entries.size(), known_at_once))) {
    const std::span<const Known> piece = entries.first(std::min(entries.size(), known_at_once));
    PAGERANK_CUDA(cudaMemcpyAsync(known.data(), piece.data(), piece.size_bytes(),
                                  cudaMemcpyHostToDevice, repairs_));
    store_entries<<<blocks_for(piece.size(), block_size), block_size, 0, repairs_>>>(
        known.data(), piece.size(),
        {places_.data(), shape_.format.labelled, weights_.data(), room_.entries});
    PAGERANK_CUDA_LAUNCHED(store_entries);
    repairs_.wait();
  }
}

void DeviceTextParser::require_room(std::uint64_t entries) const {
  // Without a header there is room for all good entries, and no more are a matter of memory.
  if (entries <= room_.entries || !shape_.declares_entries()) return;
  throw OutOfMemory(memory_.device, room_.needed, room_.available);
}

DeviceEntries DeviceTextParser::take_entries(std::uint64_t count) {
  kernels_.wait();
  return {count, std::move(places_), std::move(weights_)};
}

LabelledEntries DeviceTextParser::take_labelled_entries(std::uint64_t count) {
  kernels_.wait();
  return {count, std::move(places_), std::move(weights_)};
}

}  // namespace pagerank::gpu
