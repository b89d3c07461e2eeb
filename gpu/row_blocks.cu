// Rows cut into row blocks.
#include "gpu/row_blocks.cuh"

#include <thrust/iterator/counting_iterator.h>

#include "gpu/row_block_quotas.hpp"

namespace pagerank::gpu {
namespace {

struct Giants {
  DeviceBuffer<NodeId> rows;
  std::vector<std::uint32_t> runs;  ///< Of each.
};

Giants find_giants(const RunsByRow& by_row, std::uint32_t most_runs_of_row,
                   DeviceAlgorithms& algorithms) {
  const std::uint32_t* const counts = by_row.counts.data();
  Giants giants;
  giants.rows =
      DeviceBuffer<NodeId>(by_row.runs.size() / most_runs_of_row + 1, algorithms.scratch());
  const std::uint64_t giant_count = algorithms.select(
      thrust::counting_iterator<NodeId>(0), giants.rows.data(), by_row.counts.size(),
      [=] __device__(NodeId row) { return counts[row] > most_runs_of_row; });
  DeviceBuffer<std::uint32_t> runs(giant_count, algorithms.scratch());
  const NodeId* const giant = giants.rows.data();
  std::uint32_t* const runs_of_giant = runs.data();
  queue_for_each(
      giant_count, [=] __device__(std::uint64_t g) { runs_of_giant[g] = counts[giant[g]]; },
      algorithms.stream());
  giants.runs = algorithms.fetch(runs_of_giant, giant_count);
  return giants;
}

/// Puts the runs of each giant in ascending order: its row blocks take them in shares.
void sort_runs_of_giants(RunsByRow& by_row, const Giants& giants, DeviceAlgorithms& algorithms) {
  std::vector<std::uint64_t> before(1, 0);
  for (const std::uint32_t runs : giants.runs) before.push_back(before.back() + runs);
  const std::uint64_t count = before.back(), giant_count = giants.runs.size();
  const ScratchMemory& scratch = algorithms.scratch();
  const DeviceBuffer<std::uint64_t> begins = algorithms.upload(before, scratch);
  DeviceBuffer<std::uint64_t> keys(count, scratch), spare_keys(count, scratch);
  cub::DoubleBuffer<std::uint64_t> sorted(keys.data(), spare_keys.data());
  const std::uint64_t* const begin = begins.data();
  const NodeId* const giant = giants.rows.data();
  const std::uint32_t* const begin_of_row = by_row.begin.data();
  std::uint32_t* const runs = by_row.runs.data();
  std::uint64_t* const key = keys.data();
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t g = upper_bound(begin, giant_count + 1, i) - 1;
        key[i] = g << 32 | runs[begin_of_row[giant[g]] + (i - begin[g])];
      },
      algorithms.stream());
  algorithms.sort(sorted, count, 0, 32 + bits_below(giant_count));
  const std::uint64_t* const ascending = sorted.Current();
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t g = ascending[i] >> 32;
        runs[begin_of_row[giant[g]] + (i - begin[g])] = static_cast<std::uint32_t>(ascending[i]);
      },
      algorithms.stream());
}

/// before[row] = the runs of ordinary rows before that row, for row <= rows.
void add_up_ordinary_runs(const RunsByRow& by_row, std::uint32_t most_runs_of_row,
                          std::uint32_t* weight, std::uint32_t* before,
                          DeviceAlgorithms& algorithms) {
  const std::uint64_t rows = by_row.counts.size();
  const std::uint32_t* const counts = by_row.counts.data();
  queue_for_each(
      rows + 1,
      [=] __device__(std::uint64_t row) {
        weight[row] = row < rows && counts[row] <= most_runs_of_row ? counts[row] : 0;
      },
      algorithms.stream());
  algorithms.exclusive_sum(weight, before, rows + 1);
}

constexpr unsigned block_size = 1024;

struct MeasuredWindow {
  WindowRows ordinary;
  std::uint32_t giants;
};

/// A block a window; before[row] = the runs of ordinary rows before that row.
__global__ void measure_windows(const std::uint32_t* counts, const std::uint32_t* before,
                                std::uint64_t rows, std::uint32_t window_size,
                                std::uint32_t most_runs_of_row, MeasuredWindow* windows) {
  __shared__ std::uint32_t longest_of_block, giants_of_block;
  if (threadIdx.x == 0) longest_of_block = giants_of_block = 0;
  __syncthreads();
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * window_size;
  const std::uint64_t end = min(begin + window_size, rows);
  std::uint32_t longest = 0;
  for (std::uint64_t row = begin + threadIdx.x; row < end; row += block_size) {
    const std::uint32_t runs = counts[row];
    if (runs > most_runs_of_row) {
      atomicAdd(&giants_of_block, 1U);
    } else {
      longest = max(longest, runs);
    }
  }
  atomicMax(&longest_of_block, longest);
  __syncthreads();
  if (threadIdx.x == 0) {
    windows[blockIdx.x] = {{before[end] - before[begin], longest_of_block}, giants_of_block};
  }
}

std::vector<MeasuredWindow> measured_windows(const std::uint32_t* counts,
                                             const std::uint32_t* before, std::uint64_t rows,
                                             const BlockedShape& shape,
                                             DeviceAlgorithms& algorithms) {
  const std::uint64_t count = (rows - 1) / shape.window_size + 1;
  DeviceBuffer<MeasuredWindow> windows(count, algorithms.scratch());
  measure_windows<<<static_cast<unsigned>(count), block_size, 0, algorithms.stream()>>>(
      counts, before, rows, shape.window_size, shape.most_runs_of_row(), windows.data());
  PAGERANK_CUDA_LAUNCHED(measure_windows);
  return algorithms.fetch(windows.data(), count);
}

/// begun[row] = row blocks that begin with the row: at windows, where a quota is full, at giants
/// and behind them.
void count_beginnings(const RunsByRow& by_row, const BlockedShape& shape,
                      const std::uint32_t* before, const std::uint32_t* quota, std::uint32_t* begun,
                      cudaStream_t stream) {
  const std::uint32_t most = shape.most_runs_of_row(), window_size = shape.window_size;
  const std::uint32_t giant_share = shape.giant_runs_of_block();
  const std::uint32_t* const counts = by_row.counts.data();
  queue_for_each(
      by_row.counts.size(),
      [=] __device__(std::uint64_t row) {
        const std::uint64_t window = row / window_size;
        const auto block = [&](std::uint64_t r) {
          return (before[r] - before[window * window_size]) / quota[window];
        };
        if (counts[row] > most) {
          begun[row] = (counts[row] + giant_share - 1) / giant_share;
        } else {
          begun[row] =
              row % window_size == 0 || counts[row - 1] > most || block(row) != block(row - 1) ? 1
                                                                                               : 0;
        }
      },
      stream);
}

/// From the number of row blocks that begin with each row. `most` runs has a row that is no giant.
RowBlockCut number_row_blocks(const RunsByRow& by_row, std::uint32_t most,
                              const std::uint32_t* begun, DeviceAlgorithms& algorithms) {
  const std::uint64_t rows = by_row.counts.size();
  RowBlockCut cut{.block_of_row = DeviceBuffer<std::uint32_t>(rows, algorithms.scratch())};
  std::uint32_t* const block_of_row = cut.block_of_row.data();
  algorithms.inclusive_sum(begun, block_of_row, rows);
  cut.blocks = algorithms.fetch(block_of_row + rows - 1);
  const std::uint32_t* const counts = by_row.counts.data();
  queue_for_each(
      rows,
      [=] __device__(std::uint64_t row) {
        block_of_row[row] -= counts[row] > most ? begun[row] : 1;
      },
      algorithms.stream());
  return cut;
}

}  // namespace

RowBlockCut cut_row_blocks(RunsByRow& by_row, const BlockedShape& shape,
                           std::uint32_t multiprocessors, DeviceAlgorithms& algorithms) {
  const std::uint64_t rows = by_row.counts.size();
  const std::uint32_t most = shape.most_runs_of_row();
  DeviceBuffer<std::uint32_t> weights(rows + 1, algorithms.scratch()),
      weight_before(rows + 1, algorithms.scratch());
  add_up_ordinary_runs(by_row, most, weights.data(), weight_before.data(), algorithms);
  std::vector<WindowRows> windows;
  bool giants = false;
  for (const MeasuredWindow& window :
       measured_windows(by_row.counts.data(), weight_before.data(), rows, shape, algorithms)) {
    windows.push_back(window.ordinary);
    giants = giants || window.giants > 0;
  }
  // (Mostly there are none, and looking for them is another trip to the device.)
  Giants found;
  if (giants) {
    found = find_giants(by_row, most, algorithms);
    sort_runs_of_giants(by_row, found, algorithms);
  }
  const DeviceBuffer<std::uint32_t> quotas = algorithms.upload(
      row_block_quotas(shape, windows, found.runs, multiprocessors), algorithms.scratch());
  DeviceBuffer<std::uint32_t>& begun = weights;  // the weights have served
  count_beginnings(by_row, shape, weight_before.data(), quotas.data(), begun.data(),
                   algorithms.stream());
  return number_row_blocks(by_row, most, begun.data(), algorithms);
}

void find_first_rows(const RunsByRow& by_row, const RowBlockCut& cut, const BlockedShape& shape,
                     NodeId* block_rows, std::uint32_t* block_runs, cudaStream_t stream) {
  const std::uint32_t most = shape.most_runs_of_row();
  const std::uint32_t giant_share = shape.giant_runs_of_block();
  const std::uint32_t* const counts = by_row.counts.data();
  const std::uint32_t* const block_of_row = cut.block_of_row.data();
  const std::uint32_t* const row_runs = by_row.begin.data();
  const std::uint32_t* const runs_by_row = by_row.runs.data();
  queue_for_each(
      by_row.counts.size(),
      [=] __device__(std::uint64_t row) {
        std::uint32_t block = block_of_row[row];
        if (row > 0 && counts[row] <= most && counts[row - 1] <= most &&
            block == block_of_row[row - 1]) {
          return;
        }
        block_rows[block] = static_cast<NodeId>(row);
        block_runs[block] = 0;
        if (counts[row] <= most) return;
        for (std::uint32_t done = giant_share; done < counts[row]; done += giant_share) {
          ++block;
          block_rows[block] = static_cast<NodeId>(row);
          block_runs[block] = runs_by_row[row_runs[row] + done];
        }
      },
      stream);
}

}  // namespace pagerank::gpu
