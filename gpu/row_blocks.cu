// Runs grouped by row, and rows cut into row blocks.
#include "gpu/row_blocks.cuh"

#include <thrust/iterator/counting_iterator.h>

#include "gpu/row_block_quotas.hpp"

namespace pagerank::gpu {
namespace {

/// Runs of each giant, by row.
std::vector<std::uint32_t> runs_of_giants(const RunsByRow& by_row, std::uint32_t most_runs_of_row,
                                          DeviceAlgorithms& algorithms) {
  const std::uint32_t* const counts = by_row.counts.data();
  DeviceBuffer<NodeId> giants(by_row.runs.size() / most_runs_of_row + 1, algorithms.scratch());
  const std::uint64_t giant_count =
      algorithms.select(thrust::counting_iterator<NodeId>(0), giants.data(), by_row.counts.size(),
                        [=] __device__(NodeId row) { return counts[row] > most_runs_of_row; });
  DeviceBuffer<std::uint32_t> runs(giant_count, algorithms.scratch());
  const NodeId* const giant = giants.data();
  std::uint32_t* const runs_of_giant = runs.data();
  queue_for_each(
      giant_count, [=] __device__(std::uint64_t g) { runs_of_giant[g] = counts[giant[g]]; },
      algorithms.stream());
  return algorithms.fetch(runs_of_giant, giant_count);
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

RunsByRow group_runs_by_row(const DeviceBuffer<NodeId>& row_of_run, std::uint64_t rows,
                            DeviceAlgorithms& algorithms) {
  const ScratchMemory& scratch = algorithms.scratch();
  const std::uint64_t runs = row_of_run.size();
  DeviceBuffer<std::uint32_t> numbers(runs, scratch), spare_numbers(runs, scratch);
  DeviceBuffer<NodeId> run_rows(runs, scratch), spare_rows(runs, scratch);
  std::uint32_t* const number = numbers.data();
  NodeId* const row = run_rows.data();
  const NodeId* const row_of = row_of_run.data();
  queue_for_each(
      runs,
      [=] __device__(std::uint64_t run) {
        number[run] = static_cast<std::uint32_t>(run);
        row[run] = row_of[run];
      },
      algorithms.stream());
  cub::DoubleBuffer<NodeId> keys(run_rows.data(), spare_rows.data());
  cub::DoubleBuffer<std::uint32_t> values(numbers.data(), spare_numbers.data());
  algorithms.sort(keys, values, runs, 0, bits_below(rows));
  RunsByRow by_row;
  by_row.runs = std::move(values.Current() == numbers.data() ? numbers : spare_numbers);

  by_row.begin = DeviceBuffer<std::uint32_t>(rows + 1, scratch);
  by_row.counts = DeviceBuffer<std::uint32_t>(rows, scratch);
  std::uint32_t *const begin = by_row.begin.data(), *const counts = by_row.counts.data();
  const NodeId* const sorted_rows = keys.Current();
  queue_offsets(
      runs, rows, begin, [=] __device__(std::uint64_t i) { return sorted_rows[i]; }, algorithms);
  queue_for_each(
      rows, [=] __device__(std::uint64_t r) { counts[r] = begin[r + 1] - begin[r]; },
      algorithms.stream());
  return by_row;
}

RowBlockCut cut_row_blocks(const RunsByRow& by_row, const BlockedShape& shape,
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
  const std::vector<std::uint32_t> giant_runs =
      giants ? runs_of_giants(by_row, most, algorithms) : std::vector<std::uint32_t>{};
  const DeviceBuffer<std::uint32_t> quotas = algorithms.upload(
      row_block_quotas(shape, windows, giant_runs, multiprocessors), algorithms.scratch());
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
