// Rows of more runs than a list may have, and giants in pieces.
#include "gpu/long_rows.cuh"

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

namespace pagerank::gpu {
namespace {

/// A block a long row.
__global__ void fill_long_ids(const LongRow* rows, RunSlots slots, std::uint16_t* ids) {
  const LongRow row = rows[blockIdx.x];
  for (std::uint32_t i = threadIdx.x; i < row.length; i += blockDim.x) {
    ids[row.first_id + i] =
        static_cast<std::uint16_t>(slots.slot(std::uint64_t{row.first_run} + i));
  }
}

/// A row that is no list.
struct RowOfManyRuns {
  std::uint32_t position, runs, first_run, block;
};

/// By position, and so by row block.
DeviceBuffer<RowOfManyRuns> rows_of_many_runs(const RunsByRow& by_row, const RowBlockCut& cut,
                                              const DeviceBuffer<NodeId>& row_of_position,
                                              DeviceAlgorithms& algorithms) {
  const std::uint32_t* const counts = by_row.counts.data();
  const std::uint32_t* const row_runs = by_row.begin.data();
  const std::uint32_t* const block_of_row = cut.block_of_row.data();
  const NodeId* const row_at = row_of_position.data();
  DeviceBuffer<NodeId> positions(by_row.runs.size() / longest_list + 1, algorithms.scratch());
  const std::uint64_t found = algorithms.select(
      thrust::counting_iterator<NodeId>(0), positions.data(), row_of_position.size(),
      [=] __device__(NodeId position) { return counts[row_at[position]] > longest_list; });
  DeviceBuffer<RowOfManyRuns> rows(found, algorithms.scratch());
  RowOfManyRuns* const many = rows.data();
  const NodeId* const position_at = positions.data();
  queue_for_each(
      found,
      [=] __device__(std::uint64_t i) {
        const NodeId row = row_at[position_at[i]];
        many[i] = {position_at[i], counts[row], row_runs[row], block_of_row[row]};
      },
      algorithms.stream());
  return rows;
}

/// What rows take in the lists of long rows; and of all rows before one, where its part begins.
struct Places {
  std::uint64_t ids;
  std::uint32_t rows, giants, pieces;  ///< Rows: with giants' pieces. Pieces: of giants.
  __host__ __device__ friend Places operator+(const Places& a, const Places& b) {
    return {a.ids + b.ids, a.rows + b.rows, a.giants + b.giants, a.pieces + b.pieces};
  }
};

/// What each row takes before it, and all of them at the end: rows + 1.
DeviceBuffer<Places> find_places(const DeviceBuffer<RowOfManyRuns>& rows, std::uint32_t most_runs,
                                 DeviceAlgorithms& algorithms) {
  const std::uint64_t count = rows.size();
  DeviceBuffer<Places> taken(count + 1, algorithms.scratch()),
      places(count + 1, algorithms.scratch());
  const RowOfManyRuns* const row_at = rows.data();
  Places* const taken_by = taken.data();
  queue_for_each(
      count + 1,
      [=] __device__(std::uint64_t i) {
        if (i == count) {
          taken_by[i] = {};
          return;
        }
        const std::uint32_t runs = row_at[i].runs;
        if (runs <= most_runs) {
          taken_by[i] = {runs, 1, 0, 0};
        } else {
          constexpr std::uint32_t most = BlockedShape::most_runs_of_piece;
          const std::uint32_t pieces = (runs - 1) / most + 1;
          taken_by[i] = {runs, pieces, 1, pieces};
        }
      },
      algorithms.stream());
  algorithms.call([&](void* work, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(work, bytes, taken.data(), places.data(),
                                          cuda::std::plus<>{}, Places{}, count + 1,
                                          algorithms.stream());
  });
  return places;
}

/// Writes the lists, a thread a row; `positions` as many as there are.
void list_rows(const DeviceBuffer<RowOfManyRuns>& rows, const Places* places,
               std::uint64_t positions, const BlockedShape& shape, LongRows& lists,
               cudaStream_t stream) {
  const std::uint32_t most_runs = shape.most_runs_of_row();
  const std::uint32_t giant_share = shape.giant_runs_of_block();
  const RowOfManyRuns* const row_at = rows.data();
  LongRow* const long_rows = lists.rows.data();
  Giant* const giants = lists.giants.data();
  std::uint32_t* const giant_of_piece = lists.giant_of_piece.data();
  queue_for_each(
      rows.size(),
      [=] __device__(std::uint64_t i) {
        const RowOfManyRuns row = row_at[i];
        const Places at = places[i];
        if (row.runs <= most_runs) {
          long_rows[at.rows] = {at.ids, row.position, row.runs, row.block, row.first_run};
          return;
        }
        std::uint32_t piece = 0;
        for (std::uint32_t done = 0; done < row.runs; ++piece) {
          const std::uint32_t length = min(BlockedShape::most_runs_of_piece, row.runs - done);
          long_rows[at.rows + piece] = {at.ids + done, positions + at.pieces + piece, length,
                                        row.block + done / giant_share, row.first_run + done};
          giant_of_piece[at.pieces + piece] = at.giants;
          done += length;
        }
        giants[at.giants] = {row.position, at.pieces, at.pieces + piece};
      },
      stream);
}

/// long_begin and long_end of the row blocks, where they have long rows.
void bound_long_rows(const DeviceBuffer<LongRow>& rows, RowBlock* row_blocks, cudaStream_t stream) {
  const LongRow* const row_at = rows.data();
  const std::uint64_t count = rows.size();
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        RowBlock& block = row_blocks[row_at[i].block];
        const auto row = static_cast<std::uint32_t>(i);
        if (i == 0 || row_at[i - 1].block != row_at[i].block) block.long_begin = row;
        if (i + 1 == count || row_at[i + 1].block != row_at[i].block) block.long_end = row + 1;
      },
      stream);
}

}  // namespace

LongRows list_long_rows(const RunsByRow& by_row, const RowBlockCut& cut,
                        const DeviceBuffer<NodeId>& row_at, const RunSlots& slots,
                        const BlockedShape& shape, DeviceBuffer<RowBlock>& row_blocks,
                        const ScratchMemory& memory, DeviceAlgorithms& algorithms) {
  const DeviceBuffer<RowOfManyRuns> rows = rows_of_many_runs(by_row, cut, row_at, algorithms);
  if (rows.size() == 0) return {};
  const DeviceBuffer<Places> places = find_places(rows, shape.most_runs_of_row(), algorithms);
  const Places taken = algorithms.fetch(places.data() + rows.size());
  LongRows lists{.rows = DeviceBuffer<LongRow>(taken.rows, memory),
                 .giants = DeviceBuffer<Giant>(taken.giants, memory),
                 .giant_of_piece = DeviceBuffer<std::uint32_t>(taken.pieces, memory),
                 .ids = DeviceBuffer<std::uint16_t>(taken.ids, memory)};
  list_rows(rows, places.data(), row_at.size(), shape, lists, algorithms.stream());
  bound_long_rows(lists.rows, row_blocks.data(), algorithms.stream());
  fill_long_ids<<<taken.rows, 128, 0, algorithms.stream()>>>(lists.rows.data(), slots,
                                                             lists.ids.data());
  PAGERANK_CUDA_LAUNCHED(fill_long_ids);
  return lists;
}

}  // namespace pagerank::gpu
