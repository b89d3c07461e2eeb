// Rows of more runs than a list may have, and giants in pieces.
#include "gpu/long_rows.cuh"

#include <thrust/iterator/counting_iterator.h>

#include <algorithm>

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

/// A row that is no list, as the host sees it.
struct RowOfManyRuns {
  std::uint32_t position, runs, first_run, block;
};

/// By position, and so by row block.
std::vector<RowOfManyRuns> rows_of_many_runs(const RunsByRow& by_row, const RowBlockCut& cut,
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
  return algorithms.fetch(many, found);
}

/// Long rows and giants as the host lists them.
struct HostLongRows {
  std::vector<LongRow> rows;
  std::vector<Giant> giants;
  std::vector<std::uint32_t> giant_of_piece;
  std::uint64_t ids = 0;
};

/// Appends a row of its block, whose range in the long rows grows with it.
void add_long_row(HostLongRows& list, std::vector<RowBlock>& row_blocks, std::uint32_t block,
                  std::uint64_t target, std::uint32_t first_run, std::uint32_t length) {
  const auto index = static_cast<std::uint32_t>(list.rows.size());
  RowBlock& row_block = row_blocks[block];
  if (row_block.long_begin == row_block.long_end) row_block.long_begin = index;
  row_block.long_end = index + 1;
  list.rows.push_back({list.ids, target, length, block, first_run});
  list.ids += length;
}

void add_giant(HostLongRows& list, std::vector<RowBlock>& row_blocks, const RowOfManyRuns& row,
               std::uint64_t rows, const BlockedShape& shape) {
  const auto giant = static_cast<std::uint32_t>(list.giants.size());
  const auto first_piece = static_cast<std::uint32_t>(list.giant_of_piece.size());
  std::uint32_t piece = first_piece;
  for (std::uint32_t done = 0; done < row.runs; ++piece) {
    const std::uint32_t length = std::min(BlockedShape::most_runs_of_piece, row.runs - done);
    add_long_row(list, row_blocks, row.block + done / shape.giant_runs_of_block(), rows + piece,
                 row.first_run + done, length);
    list.giant_of_piece.push_back(giant);
    done += length;
  }
  list.giants.push_back({row.position, first_piece, piece});
}

}  // namespace

LongRows list_long_rows(const RunsByRow& by_row, const RowBlockCut& cut,
                        const DeviceBuffer<NodeId>& row_at, const RunSlots& slots,
                        const BlockedShape& shape, DeviceBuffer<RowBlock>& row_blocks,
                        DeviceAlgorithms& algorithms) {
  std::vector<RowBlock> blocks = algorithms.fetch(row_blocks.data(), cut.blocks);
  for (RowBlock& block : blocks) block.long_begin = block.long_end = 0;
  HostLongRows list;
  for (const RowOfManyRuns& row : rows_of_many_runs(by_row, cut, row_at, algorithms)) {
    if (row.runs <= shape.most_runs_of_row()) {
      add_long_row(list, blocks, row.block, row.position, row.first_run, row.runs);
    } else {
      add_giant(list, blocks, row, row_at.size(), shape);
    }
  }
  row_blocks.upload(blocks);
  LongRows long_rows{.rows = DeviceBuffer<LongRow>(std::span<const LongRow>(list.rows)),
                     .giants = DeviceBuffer<Giant>(std::span<const Giant>(list.giants)),
                     .giant_of_piece = DeviceBuffer<std::uint32_t>(
                         std::span<const std::uint32_t>(list.giant_of_piece)),
                     .ids = DeviceBuffer<std::uint16_t>(list.ids)};
  if (list.rows.empty()) return long_rows;
  fill_long_ids<<<static_cast<unsigned>(list.rows.size()), 128, 0, algorithms.stream()>>>(
      long_rows.rows.data(), slots, long_rows.ids.data());
  PAGERANK_CUDA_LAUNCHED(fill_long_ids);
  return long_rows;
}

}  // namespace pagerank::gpu
