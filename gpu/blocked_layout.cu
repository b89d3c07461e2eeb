// Prepares the blocked layout on the device: links are sorted by window, runs and row blocks found
// by scans, runs put in the order of their length, and both passes' ids laid out in slices. Sorts
// and scans are CUB's; each step below is one of them or one small kernel.
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <string>

#include "gpu/blocked_layout.cuh"
#include "gpu/node_order.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/tile_shares.hpp"

namespace pagerank::gpu {
namespace {

/// 224 KB of x, and blocks of the second pass that fill a multiprocessor two or three times.
template <class T>
BlockedShape shape_for(std::uint64_t nodes) {
  constexpr bool wide = sizeof(T) == 8;
  constexpr std::uint32_t window_size = wide ? 28 * 1024 : 56 * 1024;
  // Many windows make short segments, unless row blocks are large.
  const bool large = nodes / window_size >= 256;
  return {.window_size = window_size,
          .local_bits = wide ? 15U : 16U,
          .capacity = (large ? 28U : 18U) * 1024 / (wide ? 2 : 1),
          .threads = large ? 512U : 384U,
          .resident = large ? 2U : 3U};
}

/// A link as it is sorted: window, row, and column within the window, from the high bits down.
struct LinkKey {
  unsigned local_bits;
  [[nodiscard]] __host__ __device__ unsigned window_shift() const { return local_bits + 32; }
  [[nodiscard]] __device__ std::uint64_t make(std::uint64_t window, std::uint64_t row,
                                              std::uint64_t local) const {
    return window << window_shift() | row << local_bits | local;
  }
  [[nodiscard]] __device__ std::uint64_t run(std::uint64_t key) const { return key >> local_bits; }
  [[nodiscard]] __device__ std::uint32_t row(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> local_bits);
  }
  [[nodiscard]] __device__ std::uint32_t window(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> window_shift());
  }
  [[nodiscard]] __device__ std::uint32_t local(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key) & ((1U << local_bits) - 1);
  }
};

constexpr unsigned emit_block_size = 256;
constexpr unsigned emit_links_per_warp = 256;
constexpr unsigned emit_links_per_block = emit_links_per_warp * emit_block_size / warp_size;

/// keys[i] (and values[i]) of the i-th link, rows taken in the base order.
template <class T>
__global__ void emit_links(CsrView<T> matrix, NodeOrderView base, const EdgeIndex* base_offsets,
                           std::uint32_t window_size, LinkKey link_key, std::uint64_t* keys,
                           T* values) {
  const std::uint64_t warp = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const EdgeIndex begin = warp * emit_links_per_warp;
  if (begin >= matrix.links) return;  // the whole warp leaves together
  const EdgeIndex end = min(begin + emit_links_per_warp, matrix.links);
  // The rows of the warp's links: far fewer than all, so that the searches below are short.
  std::uint64_t bound = upper_bound(base_offsets, matrix.rows + 1, lane == 0 ? begin : end - 1) - 1;
  const std::uint64_t first_row = __shfl_sync(full_warp, bound, 0);
  const std::uint64_t rows = __shfl_sync(full_warp, bound, 1) - first_row + 1;
  const EdgeIndex* const offsets = base_offsets + first_row;
  for (EdgeIndex i = begin + lane; i < end; i += warp_size) {
    const std::uint64_t row = first_row + upper_bound(offsets, rows, i) - 1;
    const EdgeIndex link =
        base.is_identity() ? i : matrix.row_offsets[base.node(row)] + (i - base_offsets[row]);
    const NodeId column = base.base(matrix.column_indices[link]);
    keys[i] = link_key.make(column / window_size, row, column % window_size);
    if (values != nullptr) values[i] = matrix.values[link];
  }
}

/// Whether link i begins a run: another row or window than the link before, or far enough in a long
/// run. Pieces of long runs end at multiples of half a list's length, so that none is longer than a
/// list, and who looks at a link needs to know nothing of where its run began.
struct BeginsRun {
  const std::uint64_t* keys;
  LinkKey link_key;
  static constexpr std::uint64_t piece = longest_list / 2;
  __device__ bool operator()(std::uint64_t i) const {
    if (i == 0) return true;
    const std::uint64_t run = link_key.run(keys[i]);
    return run != link_key.run(keys[i - 1]) ||
           (i % piece == 0 && i >= piece && run == link_key.run(keys[i - piece]));
  }
};

/// The runs of a segment in the order of their length, up or down: sorted[s] = the run at place s,
/// lengths[s] its length; slots[run] = where its partial sum is found by the row block. Stable; a
/// warp a segment.
__global__ void order_segments(std::uint64_t segments, std::uint32_t windows,
                               const std::uint32_t* bounds, const Segment* segment_at,
                               const std::uint64_t* run_begin, std::uint32_t* sorted,
                               std::uint16_t* slots, std::uint16_t* lengths) {
  constexpr unsigned lists = longest_list;
  constexpr unsigned warps = 8, bins_per_lane = lists / warp_size;
  __shared__ std::uint32_t counts[warps][lists];
  const std::uint64_t segment = global_thread_index() / warp_size;
  if (segment >= segments) return;
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t* const count = counts[threadIdx.x / warp_size];
  const std::uint32_t begin = bounds[segment], end = bounds[segment + windows];
  if (begin == end) return;
  const std::uint32_t first_slot = segment_at[segment].slot;
  // Neighbouring row blocks sort up and down in turn: a slice across both has lists alike.
  const bool down = segment / windows % 2 == 1;
  const auto bin_of = [&](std::uint32_t run) {
    const auto length = static_cast<unsigned>(run_begin[run + 1] - run_begin[run]);
    return down ? lists - length : length - 1;
  };
  for (unsigned k = 0; k < bins_per_lane; ++k) count[k * warp_size + lane] = 0;
  __syncwarp();
  for (std::uint32_t run = begin + lane; run < end; run += warp_size) {
    atomicAdd(count + bin_of(run), 1);
  }
  __syncwarp();
  // Counts become the bins' beginnings.
  std::uint32_t mine[bins_per_lane], sum = 0;
  for (unsigned k = 0; k < bins_per_lane; ++k) {
    mine[k] = count[lane * bins_per_lane + k];
    sum += mine[k];
  }
  std::uint32_t before = sum;
  for (unsigned offset = 1; offset < warp_size; offset *= 2) {
    const std::uint32_t other = __shfl_up_sync(full_warp, before, offset);
    if (lane >= offset) before += other;
  }
  before -= sum;
  __syncwarp();
  for (unsigned k = 0; k < bins_per_lane; ++k) {
    count[lane * bins_per_lane + k] = before;
    before += mine[k];
  }
  __syncwarp();
  for (std::uint32_t first = begin; first < end; first += warp_size) {
    const std::uint32_t run = first + lane;
    const unsigned bin = run < end ? bin_of(run) : lists;
    const unsigned alike = __match_any_sync(full_warp, bin);
    const unsigned rank = __popc(alike & ((1U << lane) - 1));
    std::uint32_t target = 0;
    if (run < end) {
      target = begin + count[bin] + rank;
      sorted[target] = run;
      slots[run] = static_cast<std::uint16_t>(first_slot + (target - begin));
      lengths[target] = static_cast<std::uint16_t>(run_begin[run + 1] - run_begin[run]);
    }
    __syncwarp();
    if (run < end && rank == 0) count[bin] += __popc(alike);
    __syncwarp();
  }
}

/// Segments of one row block from their bounds; a warp a row block.
__global__ void make_segments(std::uint64_t blocks, std::uint32_t windows,
                              const std::uint32_t* bounds, const std::uint64_t* window_runs,
                              Segment* segments) {
  const std::uint64_t block = global_thread_index() / warp_size;
  if (block >= blocks) return;
  const unsigned lane = threadIdx.x % warp_size;
  std::uint32_t slot = 1;
  for (std::uint32_t first = 0; first < windows; first += warp_size) {
    const std::uint32_t window = first + lane;
    const std::uint64_t index = block * windows + window;
    const std::uint32_t begin = window < windows ? bounds[index] : 0;
    const std::uint32_t length = window < windows ? bounds[index + windows] - begin : 0;
    std::uint32_t through = length;
    for (unsigned offset = 1; offset < warp_size; offset *= 2) {
      const std::uint32_t other = __shfl_up_sync(full_warp, through, offset);
      if (lane >= offset) through += other;
    }
    if (window < windows) {
      segments[index] = {static_cast<std::uint32_t>(begin - window_runs[window]),
                         static_cast<std::uint16_t>(length),
                         static_cast<std::uint16_t>(slot + through - length)};
    }
    slot += __shfl_sync(full_warp, through, warp_size - 1);
  }
}

/// Lists of the first pass: a run's links, by where the run was placed.
template <class T>
struct RunLinks {
  const std::uint32_t* sorted;
  const std::uint64_t* run_begin;
  const std::uint64_t* keys;
  const T* values;
  const NodeId* position_of_base;
  LinkKey link_key;
  std::uint32_t window_size;
  __device__ std::uint64_t begin(std::uint64_t place) const { return run_begin[sorted[place]]; }
  __device__ std::uint32_t id(std::uint64_t window, std::uint64_t link) const {
    const std::uint64_t first = window * window_size;
    return static_cast<std::uint32_t>(position_of_base[first + link_key.local(keys[link])] - first);
  }
  __device__ T value(std::uint64_t link) const { return values[link]; }
};

/// The first run of each segment, of row blocks that begin as said (see first_rows()): bounds[b *
/// windows + w], and the end of each window's runs for b = blocks.
__global__ void bound_segments(std::uint64_t blocks, std::uint32_t windows,
                               const NodeId* block_rows, const std::uint32_t* block_runs,
                               const std::uint64_t* window_runs, const NodeId* row_of_run,
                               std::uint32_t* bounds) {
  const std::uint64_t index = global_thread_index();
  if (index >= (blocks + 1) * windows) return;
  const std::uint64_t block = index / windows, window = index % windows;
  const std::uint64_t begin = window_runs[window], runs = window_runs[window + 1] - begin;
  std::uint64_t bound = begin + runs;
  if (block < blocks) {
    bound = begin + lower_bound(row_of_run + begin, runs, block_rows[block]);
    if (const std::uint64_t from = block_runs[block]; from > bound) {
      const std::uint64_t end = begin + upper_bound(row_of_run + begin, runs, block_rows[block]);
      bound = min(from, end);
    }
  }
  bounds[index] = static_cast<std::uint32_t>(bound);
}

/// Where the partial sums of a row's runs are found by its row block; i counts runs by row.
struct RunSlots {
  const std::uint32_t* runs_by_row;
  const std::uint16_t* slots;
  [[nodiscard]] __device__ std::uint32_t slot(std::uint64_t i) const {
    return slots[runs_by_row[i]];
  }
};

/// Lists of the second pass: the slots of a row's runs.
struct RowRuns {
  RunSlots slots;
  const NodeId* base_at;
  const std::uint32_t* row_runs;
  __device__ std::uint64_t begin(std::uint64_t position) const {
    return row_runs[base_at[position]];
  }
  __device__ std::uint32_t id(std::uint64_t, std::uint64_t i) const { return slots.slot(i); }
  __device__ float value(std::uint64_t) const { return 0; }
};

/// A block a long row.
__global__ void fill_long_ids(const LongRow* rows, RunSlots slots, std::uint16_t* ids) {
  const LongRow row = rows[blockIdx.x];
  for (std::uint32_t i = threadIdx.x; i < row.length; i += blockDim.x) {
    ids[row.first_id + i] =
        static_cast<std::uint16_t>(slots.slot(std::uint64_t{row.first_run} + i));
  }
}

/// Ids of a slice that a warp loads at once.
constexpr std::uint64_t bytes_of_step = warp_size * sizeof(std::uint32_t);

/// A giant's piece that one warp adds up.
constexpr std::uint32_t most_runs_of_piece = 1024;

/// What rows of a class sort by within their block: long ones (and giants, alone in theirs) first,
/// then by falling number of runs, then those without.
constexpr std::uint32_t class_bits = 8, class_short = 1, class_empty = 255;

__host__ __device__ std::uint32_t row_class(std::uint32_t runs) {
  if (runs == 0) return class_empty;
  return runs > longest_list ? 0 : class_short + longest_list - runs;
}

/// The steps of the preparation and what they hand on. (All public: nvcc wants it of who has device
/// lambdas.)
template <class T>
struct Builder {
  Builder(BlockedLayout<T>& layout, const DeviceGraph<T>& graph, cudaStream_t stream)
      : layout_(layout),
        matrix_(graph.in_links()),
        scratch_(stream, first_bytes(matrix_)),
        algorithms_(scratch_),
        stream_(stream),
        nodes_(matrix_.rows),
        link_key_{layout.shape.local_bits},
        base_(graph, layout.shape.window_size, algorithms_) {}

  void build() {
    sort_links();
    find_runs();
    group_runs_by_row();
    cut_row_blocks();
    order_runs();
    order_rows();
    lay_out_gather();
    lay_out_combine();
    share_windows();
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
  }

  [[nodiscard]] std::uint32_t most_runs_of_row() const { return layout_.shape.most_runs_of_row(); }

  /// What the links take while they are sorted, which all that follows fits into, nearly.
  [[nodiscard]] static std::size_t first_bytes(const CsrView<T>& matrix) {
    const std::size_t pair = sizeof(std::uint64_t) + (matrix.values != nullptr ? sizeof(T) : 0);
    return matrix.links * 2 * pair + matrix.rows * std::size_t{40} + (std::size_t{4} << 20);
  }

  void require_memory(std::size_t bytes) {
    const std::size_t available = scratch_.available();
    if (bytes > available) throw OutOfMemory("the GPU", bytes, available);
  }

  void sort_links() {
    const EdgeIndex links = matrix_.links;
    const bool weighted = matrix_.values != nullptr;
    require_memory(links * 2 * (sizeof(std::uint64_t) + (weighted ? sizeof(T) : 0)) +
                   nodes_ * sizeof(EdgeIndex));
    const DeviceBuffer<EdgeIndex> base_offsets = base_.row_offsets(matrix_, algorithms_);
    const EdgeIndex* const offsets =
        base_offsets.size() > 0 ? base_offsets.data() : matrix_.row_offsets;
    keys_ = DeviceBuffer<std::uint64_t>(links + 1, scratch_);
    spare_keys_ = DeviceBuffer<std::uint64_t>(links + 1, scratch_);  // one more to mark an end
    if (weighted) {
      values_ = DeviceBuffer<T>(links, scratch_);
      spare_values_ = DeviceBuffer<T>(links, scratch_);
    }
    emit_links<<<blocks_for(links, emit_links_per_block), emit_block_size, 0, stream_>>>(
        matrix_, base_.view(), offsets, layout_.shape.window_size, link_key_, keys_.data(),
        weighted ? values_.data() : nullptr);
    PAGERANK_CUDA_LAUNCHED(emit_links);
    if (layout_.windows == 1) return;
    const int begin = static_cast<int>(link_key_.window_shift());
    const int end = begin + bits_below(layout_.windows);
    cub::DoubleBuffer<std::uint64_t> keys(keys_.data(), spare_keys_.data());
    if (weighted) {
      cub::DoubleBuffer<T> values(values_.data(), spare_values_.data());
      algorithms_.sort(keys, values, links, begin, end);
      if (values.Current() != values_.data()) std::swap(values_, spare_values_);
    } else {
      algorithms_.sort(keys, links, begin, end);
    }
    if (keys.Current() != keys_.data()) std::swap(keys_, spare_keys_);
    spare_values_ = {};
  }

  /// run_begin_, row_of_run_, window_runs_.
  void find_runs() {
    static_assert(std::is_same_v<EdgeIndex, std::uint64_t>);
    const EdgeIndex links = matrix_.links;
    const std::uint64_t* const keys = keys_.data();
    std::uint64_t* const found = spare_keys_.data();  // has room for as many runs as links
    runs_ = algorithms_.select(thrust::counting_iterator<std::uint64_t>(0), found, links,
                               BeginsRun{keys, link_key_});
    if (runs_ >= 0xffffffff) {
      throw KernelRefused("kernel blocked: " + std::to_string(runs_) +
                          " runs of links, at most 2^32 - 2 are possible");
    }
    layout_.runs = runs_;
    const std::uint64_t runs = runs_;
    PAGERANK_CUDA(
        cudaMemcpyAsync(found + runs, &links, sizeof(links), cudaMemcpyHostToDevice, stream_));
    if (runs > links / 4) {
      run_begin_ = std::move(spare_keys_);
    } else {
      run_begin_ = DeviceBuffer<std::uint64_t>(runs + 1, scratch_);
      PAGERANK_CUDA(cudaMemcpyAsync(run_begin_.data(), found, (runs + 1) * sizeof(std::uint64_t),
                                    cudaMemcpyDeviceToDevice, stream_));
    }
    const std::uint64_t* const run_begin = run_begin_.data();
    spare_keys_ = {};
    // What follows takes at most so much.
    require_memory(runs_ * 40 + nodes_ * 40 + links * 3 +
                   (matrix_.values != nullptr ? links * sizeof(T) * 5 / 4 : 0));

    row_of_run_ = DeviceBuffer<NodeId>(runs_, scratch_);
    window_runs_ = DeviceBuffer<std::uint64_t>(layout_.windows + 1, scratch_);
    NodeId* const row_of_run = row_of_run_.data();
    std::uint64_t* const window_runs = window_runs_.data();
    const std::uint32_t windows = layout_.windows;
    const LinkKey link_key = link_key_;
    queue_for_each(
        runs,
        [=] __device__(std::uint64_t run) {
          const std::uint64_t key = keys[run_begin[run]];
          const std::uint32_t row = link_key.row(key), window = link_key.window(key);
          row_of_run[run] = row;
          // Windows that begin here: this one's, and those without links before it.
          const std::uint32_t first = run == 0 ? 0 : link_key.window(keys[run_begin[run - 1]]) + 1;
          for (std::uint32_t w = first; w <= window; ++w) window_runs[w] = run;
          if (run + 1 == runs) {
            for (std::uint32_t w = window + 1; w <= windows; ++w) window_runs[w] = runs;
          }
        },
        stream_);
  }

  /// runs_by_row_, row_runs_, counts_.
  void group_runs_by_row() {
    DeviceBuffer<std::uint32_t> numbers(runs_, scratch_), spare_numbers(runs_, scratch_);
    DeviceBuffer<NodeId> rows(runs_, scratch_), spare_rows(runs_, scratch_);
    std::uint32_t* const number = numbers.data();
    NodeId* const row = rows.data();
    const NodeId* const row_of_run = row_of_run_.data();
    queue_for_each(
        runs_,
        [=] __device__(std::uint64_t run) {
          number[run] = static_cast<std::uint32_t>(run);
          row[run] = row_of_run[run];
        },
        stream_);
    cub::DoubleBuffer<NodeId> keys(rows.data(), spare_rows.data());
    cub::DoubleBuffer<std::uint32_t> values(numbers.data(), spare_numbers.data());
    algorithms_.sort(keys, values, runs_, 0, bits_below(nodes_));
    runs_by_row_ = std::move(values.Current() == numbers.data() ? numbers : spare_numbers);

    row_runs_ = DeviceBuffer<std::uint32_t>(nodes_ + 1, scratch_);
    counts_ = DeviceBuffer<std::uint32_t>(nodes_, scratch_);
    std::uint32_t *const row_runs = row_runs_.data(), *const counts = counts_.data();
    const NodeId* const sorted_rows = keys.Current();
    const std::uint64_t runs = runs_;
    queue_for_each(
        nodes_ + 1,
        [=] __device__(std::uint64_t r) {
          row_runs[r] = static_cast<std::uint32_t>(lower_bound(sorted_rows, runs, r));
        },
        stream_);
    queue_for_each(
        nodes_, [=] __device__(std::uint64_t r) { counts[r] = row_runs[r + 1] - row_runs[r]; },
        stream_);
  }

  /// quota_of_window: runs of ordinary rows that a row block of each window gets, so that row
  /// blocks are full and the last wave of them too.
  std::vector<std::uint32_t> choose_quotas(const std::vector<std::uint32_t>& window_weights,
                                           const std::vector<std::uint32_t>& giant_runs) {
    const BlockedShape& shape = layout_.shape;
    int multiprocessors = 0, device = 0;
    PAGERANK_CUDA(cudaGetDevice(&device));
    PAGERANK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    layout_.gather_blocks = static_cast<std::uint32_t>(multiprocessors);
    const std::uint64_t resident = std::uint64_t{shape.resident} * multiprocessors;
    const auto blocks_with = [&](std::uint32_t quota) {
      std::uint64_t blocks = 0;
      for (const std::uint32_t weight : window_weights) {
        blocks += std::max<std::uint64_t>(1, (weight + quota - 1) / quota);
      }
      return blocks;
    };
    // A block takes rows until it has its quota: the last may bring it above.
    const std::uint32_t most = shape.capacity - 1 - most_runs_of_row();
    std::uint64_t of_giants = 0;  // their own, and the blocks that they cut in two
    for (const std::uint32_t runs : giant_runs) {
      of_giants += (runs + piece_runs() - 1) / piece_runs() + 1;
    }
    const std::uint64_t waves = (blocks_with(most) + of_giants + resident - 1) / resident;
    std::uint32_t least = 1, quota = most;
    while (least < quota) {
      const std::uint32_t middle = least + (quota - least) / 2;
      if (blocks_with(middle) + of_giants <= waves * resident) {
        quota = middle;
      } else {
        least = middle + 1;
      }
    }
    std::vector<std::uint32_t> quotas;
    for (const std::uint32_t weight : window_weights) {
      const std::uint32_t blocks = std::max(1U, (weight + quota - 1) / quota);
      quotas.push_back(weight / blocks + 1);  // all of them are less than `blocks` quotas
    }
    return quotas;
  }

  /// block_of_row_, blocks_.
  void cut_row_blocks() {
    const std::uint64_t nodes = nodes_;
    const std::uint32_t most = most_runs_of_row(), window_size = layout_.shape.window_size;
    const std::uint32_t* const counts = counts_.data();
    DeviceBuffer<NodeId> giants(runs_ / most + 1, scratch_);
    const std::uint64_t giant_count =
        algorithms_.select(thrust::counting_iterator<NodeId>(0), giants.data(), nodes,
                           [=] __device__(NodeId row) { return counts[row] > most; });
    DeviceBuffer<std::uint32_t> runs_of_giants(giant_count, scratch_);
    const NodeId* const giant = giants.data();
    std::uint32_t* const runs_of_giant = runs_of_giants.data();
    queue_for_each(
        giant_count, [=] __device__(std::uint64_t g) { runs_of_giant[g] = counts[giant[g]]; },
        stream_);
    const std::vector<std::uint32_t> giant_runs = algorithms_.fetch(runs_of_giant, giant_count);
    DeviceBuffer<std::uint32_t> weights(nodes + 1, scratch_), weight_before(nodes + 1, scratch_);
    std::uint32_t* const weight = weights.data();
    queue_for_each(
        nodes + 1,
        [=] __device__(std::uint64_t row) {
          weight[row] = row < nodes && counts[row] <= most ? counts[row] : 0;
        },
        stream_);
    std::uint32_t* const before = weight_before.data();
    algorithms_.exclusive_sum(weight, before, nodes + 1);

    DeviceBuffer<std::uint32_t> at_windows(layout_.windows + 1, scratch_);
    std::uint32_t* const at_window = at_windows.data();
    queue_for_each(
        layout_.windows + 1,
        [=] __device__(std::uint64_t w) { at_window[w] = before[min(w * window_size, nodes)]; },
        stream_);
    std::vector<std::uint32_t> window_weights = algorithms_.fetch(at_window, layout_.windows + 1);
    for (std::size_t w = 0; w + 1 < window_weights.size(); ++w) {
      window_weights[w] = window_weights[w + 1] - window_weights[w];
    }
    window_weights.pop_back();
    const DeviceBuffer<std::uint32_t> quotas(
        std::span<const std::uint32_t>(choose_quotas(window_weights, giant_runs)));

    // Row blocks begin at windows, where a quota is full, at giants and behind them.
    const std::uint32_t* const quota = quotas.data();
    const std::uint32_t giant_share = piece_runs();
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t row) {
          const std::uint64_t window = row / window_size;
          const auto block = [&](std::uint64_t r) {
            return (before[r] - before[window * window_size]) / quota[window];
          };
          if (counts[row] > most) {
            weight[row] = (counts[row] + giant_share - 1) / giant_share;
          } else {
            weight[row] =
                row % window_size == 0 || counts[row - 1] > most || block(row) != block(row - 1)
                    ? 1
                    : 0;
          }
        },
        stream_);
    block_of_row_ = DeviceBuffer<std::uint32_t>(nodes, scratch_);
    std::uint32_t* const block_of_row = block_of_row_.data();
    algorithms_.inclusive_sum(weight, block_of_row, nodes);
    blocks_ = algorithms_.fetch(block_of_row + nodes - 1);
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t row) {
          block_of_row[row] -= counts[row] > most ? weight[row] : 1;
        },
        stream_);
  }

  /// Runs of a giant in each of its row blocks.
  [[nodiscard]] std::uint32_t piece_runs() const {
    return (layout_.shape.capacity - 1) / most_runs_of_piece * most_runs_of_piece;
  }

  /// Where row blocks begin: block_rows[b] = the first row; of a giant's blocks that row each time,
  /// and block_runs[b] = the first run, for all but the first of them. 0 for other blocks.
  void first_rows(NodeId* block_rows, std::uint32_t* block_runs) {
    const std::uint32_t most = most_runs_of_row(), giant_share = piece_runs();
    const std::uint32_t *const counts = counts_.data(), *const block_of_row = block_of_row_.data(),
                               *const row_runs = row_runs_.data(),
                               *const runs_by_row = runs_by_row_.data();
    queue_for_each(
        nodes_,
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
        stream_);
  }

  /// segments, sorted_, slots_, lengths_.
  void order_runs() {
    const std::uint32_t windows = layout_.windows;
    const std::uint64_t runs = runs_, blocks = blocks_;
    if (blocks >= (std::uint64_t{1} << (32 - class_bits))) {
      throw KernelRefused("kernel blocked: " + std::to_string(blocks) + " row blocks");
    }
    DeviceBuffer<NodeId> block_rows(blocks, scratch_);
    DeviceBuffer<std::uint32_t> block_runs(blocks, scratch_);
    first_rows(block_rows.data(), block_runs.data());
    DeviceBuffer<std::uint32_t> bounds((blocks + 1) * windows, scratch_);
    constexpr unsigned block_size = 256;
    bound_segments<<<blocks_for(bounds.size(), block_size), block_size, 0, stream_>>>(
        blocks, windows, block_rows.data(), block_runs.data(), window_runs_.data(),
        row_of_run_.data(), bounds.data());
    PAGERANK_CUDA_LAUNCHED(bound_segments);
    row_of_run_ = {};

    layout_.segments = DeviceBuffer<Segment>(blocks * windows);
    make_segments<<<blocks_for(blocks * warp_size, block_size), block_size, 0, stream_>>>(
        blocks, windows, bounds.data(), window_runs_.data(), layout_.segments.data());
    PAGERANK_CUDA_LAUNCHED(make_segments);
    sorted_ = DeviceBuffer<std::uint32_t>(runs, scratch_);
    slots_ = DeviceBuffer<std::uint16_t>(runs, scratch_);
    lengths_ = DeviceBuffer<std::uint16_t>(runs, scratch_);
    order_segments<<<blocks_for(blocks * windows * warp_size, block_size), block_size, 0,
                     stream_>>>(blocks * windows, windows, bounds.data(), layout_.segments.data(),
                                run_begin_.data(), sorted_.data(), slots_.data(), lengths_.data());
    PAGERANK_CUDA_LAUNCHED(order_segments);
  }

  /// base_at_, position_of_base_, layout.order, row_keys_.
  void order_rows() {
    const std::uint64_t nodes = nodes_;
    DeviceBuffer<std::uint32_t> keys(nodes, scratch_), spare_keys(nodes, scratch_);
    DeviceBuffer<NodeId> rows(nodes, scratch_), spare_rows(nodes, scratch_);
    std::uint32_t* const key = keys.data();
    NodeId* const number = rows.data();
    const std::uint32_t *const counts = counts_.data(), *const block_of_row = block_of_row_.data();
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t row) {
          key[row] = block_of_row[row] << class_bits | row_class(counts[row]);
          number[row] = static_cast<NodeId>(row);
        },
        stream_);
    cub::DoubleBuffer<std::uint32_t> sorted_keys(keys.data(), spare_keys.data());
    cub::DoubleBuffer<NodeId> sorted_rows(rows.data(), spare_rows.data());
    algorithms_.sort(sorted_keys, sorted_rows, nodes, 0,
                     static_cast<int>(class_bits) + bits_below(blocks_));
    row_keys_ = std::move(sorted_keys.Current() == keys.data() ? keys : spare_keys);
    base_at_ = std::move(sorted_rows.Current() == rows.data() ? rows : spare_rows);
    position_of_base_ = DeviceBuffer<NodeId>(nodes, scratch_);
    layout_.order = DeviceBuffer<NodeId>(nodes);
    const NodeId* const base_at = base_at_.data();
    NodeId *const position_of_base = position_of_base_.data(), *const order = layout_.order.data();
    const NodeOrderView base = base_.view();
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t position) {
          position_of_base[base_at[position]] = static_cast<NodeId>(position);
          order[position] = static_cast<NodeId>(base.node(base_at[position]));
        },
        stream_);
  }

  void lay_out_gather() {
    const SliceLists lists{.groups = layout_.windows,
                           .begin = window_runs_.data(),
                           .end = window_runs_.data() + 1,
                           .lengths = lengths_.data()};
    const bool weighted = matrix_.values != nullptr;
    // Least squares of blocks' times on an H100; a store takes less of a warp's time than a load.
    const SliceWork work{.step = bytes_of_step + (weighted ? 2 * warp_size * sizeof(T) : 0),
                         .slice = warp_size * sizeof(T) * 3 / 5};
    layout_.gather_tiles = SliceTiles(lists, 32, work, algorithms_);
    layout_.partials = layout_.gather_tiles.slices() * warp_size;
    if (weighted) {
      const std::uint64_t count = (layout_.gather_tiles.steps() + SliceWalk::batch) * warp_size * 2;
      layout_.gather_values = DeviceBuffer<T>(count);
      layout_.gather_values.set_to_zero(stream_);
    }
    const std::uint32_t padding = layout_.shape.window_size;
    layout_.gather_tiles.fill(
        lists,
        RunLinks<T>{sorted_.data(), run_begin_.data(), keys_.data(), values_.data(),
                    position_of_base_.data(), link_key_, layout_.shape.window_size},
        padding, weighted ? layout_.gather_values.data() : static_cast<T*>(nullptr), stream_);

    layout_.window_partials = DeviceBuffer<std::uint64_t>(layout_.windows);
    std::uint64_t* const partials = layout_.window_partials.data();
    const std::uint32_t* const slices = layout_.gather_tiles.group_slices();
    queue_for_each(
        layout_.windows,
        [=] __device__(std::uint64_t w) { partials[w] = std::uint64_t{slices[w]} * warp_size; },
        stream_);
    keys_ = {};
    values_ = {};
    sorted_ = {};
    lengths_ = {};
    run_begin_ = {};
  }

  void lay_out_combine() {
    const std::uint64_t blocks = blocks_, nodes = nodes_;
    // By position and row block.
    DeviceBuffer<std::uint16_t> lengths(nodes, scratch_);
    DeviceBuffer<std::uint64_t> short_begin(blocks, scratch_), empty_begin(blocks, scratch_);
    layout_.row_blocks = DeviceBuffer<RowBlock>(blocks);
    layout_.row_blocks.set_to_zero(stream_);
    std::uint16_t* const length = lengths.data();
    std::uint64_t *const begin = short_begin.data(), *const end = empty_begin.data();
    RowBlock* const row_blocks = layout_.row_blocks.data();
    const std::uint32_t *const counts = counts_.data(), *const row_keys = row_keys_.data();
    const NodeId* const base_at = base_at_.data();
    queue_for_each(
        nodes,
        [=] __device__(std::uint64_t position) {
          length[position] =
              static_cast<std::uint16_t>(min(counts[base_at[position]], longest_list));
        },
        stream_);
    queue_for_each(
        blocks,
        [=] __device__(std::uint64_t block) {
          const auto first = [&](std::uint64_t key) { return lower_bound(row_keys, nodes, key); };
          const std::uint64_t key = block << class_bits;
          begin[block] = first(key + class_short);
          end[block] = first(key + class_empty);
          row_blocks[block].short_begin = static_cast<std::uint32_t>(begin[block]);
          row_blocks[block].empty_begin = static_cast<std::uint32_t>(end[block]);
          row_blocks[block].end = static_cast<std::uint32_t>(first(key + class_empty + 1));
        },
        stream_);

    const SliceLists lists{.groups = blocks, .begin = begin, .end = end, .lengths = length};
    const SliceWork work{.step = bytes_of_step, .slice = warp_size * sizeof(T)};
    layout_.combine_tiles = SliceTiles(lists, 8, work, algorithms_);
    const RunSlots slots{runs_by_row_.data(), slots_.data()};
    layout_.combine_tiles.fill(lists, RowRuns{slots, base_at, row_runs_.data()}, 0,
                               static_cast<float*>(nullptr), stream_);
    const std::uint32_t* const slices = layout_.combine_tiles.group_slices();
    queue_for_each(
        blocks, [=] __device__(std::uint64_t b) { row_blocks[b].first_slice = slices[b]; },
        stream_);
    const std::uint32_t warps = layout_.shape.threads / warp_size;
    layout_.combine_ranges = DeviceBuffer<SliceRange>(blocks * warps);
    const std::uint32_t* const tiles = layout_.combine_tiles.group_tiles();
    layout_.combine_tiles.cut(tiles, tiles + 1, blocks, warps, layout_.combine_ranges.data(),
                              stream_);
    layout_.combine_tiles.finish();
    list_long_rows(slots);
  }

  /// A row that is no list, as the host sees it.
  struct RowOfManyRuns {
    std::uint32_t position, runs, first_run, block;
  };

  /// By position, and so by row block.
  [[nodiscard]] std::vector<RowOfManyRuns> rows_of_many_runs() {
    const std::uint32_t *const counts = counts_.data(), *const row_runs = row_runs_.data(),
                               *const block_of_row = block_of_row_.data();
    const NodeId* const base_at = base_at_.data();
    DeviceBuffer<NodeId> positions(runs_ / longest_list + 1, scratch_);
    const std::uint64_t found = algorithms_.select(
        thrust::counting_iterator<NodeId>(0), positions.data(), nodes_,
        [=] __device__(NodeId position) { return counts[base_at[position]] > longest_list; });
    DeviceBuffer<RowOfManyRuns> rows(found, scratch_);
    RowOfManyRuns* const row_at = rows.data();
    const NodeId* const position_at = positions.data();
    queue_for_each(
        found,
        [=] __device__(std::uint64_t i) {
          const NodeId row = base_at[position_at[i]];
          row_at[i] = {position_at[i], counts[row], row_runs[row], block_of_row[row]};
        },
        stream_);
    return algorithms_.fetch(row_at, found);
  }

  /// Long rows of ordinary blocks, and giants in pieces.
  void list_long_rows(const RunSlots& slots) {
    std::vector<RowBlock> row_blocks = algorithms_.fetch(layout_.row_blocks.data(), blocks_);
    for (RowBlock& block : row_blocks) block.long_begin = block.long_end = 0;
    std::vector<Giant> giants;
    std::vector<std::uint32_t> giant_of_piece;
    std::vector<LongRow> long_rows;
    std::uint64_t ids = 0;
    const auto add = [&](std::uint32_t block, std::uint64_t target, std::uint32_t first_run,
                         std::uint32_t length) {
      const auto index = static_cast<std::uint32_t>(long_rows.size());
      RowBlock& row_block = row_blocks[block];
      if (row_block.long_begin == row_block.long_end) row_block.long_begin = index;
      row_block.long_end = index + 1;
      long_rows.push_back({ids, target, length, block, first_run});
      ids += length;
    };
    std::uint32_t pieces = 0;
    for (const RowOfManyRuns& row : rows_of_many_runs()) {
      if (row.runs <= most_runs_of_row()) {
        add(row.block, row.position, row.first_run, row.runs);
        continue;
      }
      giants.push_back({row.position, pieces, pieces});
      for (std::uint32_t done = 0; done < row.runs; ++pieces) {
        const std::uint32_t length = std::min(most_runs_of_piece, row.runs - done);
        add(row.block + done / piece_runs(), nodes_ + pieces, row.first_run + done, length);
        giant_of_piece.push_back(static_cast<std::uint32_t>(giants.size() - 1));
        done += length;
      }
      giants.back().end = pieces;
    }
    layout_.row_blocks.upload(row_blocks);
    layout_.long_rows = DeviceBuffer<LongRow>(std::span<const LongRow>(long_rows));
    layout_.giants = DeviceBuffer<Giant>(std::span<const Giant>(giants));
    layout_.giant_of_piece =
        DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(giant_of_piece));
    layout_.long_ids = DeviceBuffer<std::uint16_t>(ids);
    if (long_rows.empty()) return;
    fill_long_ids<<<static_cast<unsigned>(long_rows.size()), 128, 0, stream_>>>(
        layout_.long_rows.data(), slots, layout_.long_ids.data());
    PAGERANK_CUDA_LAUNCHED(fill_long_ids);
  }

  /// Tiles of the first pass to as many blocks as there are multiprocessors.
  void share_windows() {
    const std::vector<std::uint32_t> window_tiles =
        algorithms_.fetch(layout_.gather_tiles.group_tiles(), layout_.windows + 1);
    const std::vector<std::uint64_t> work_before =
        algorithms_.fetch(layout_.gather_tiles.work_before(), layout_.gather_tiles.tiles() + 1);
    // Least squares of blocks' times on an H100.
    const double window_work = 0.6 * layout_.shape.window_size * sizeof(T);
    const TileShares shares =
        share_tiles(window_tiles, work_before, window_work, layout_.gather_blocks);
    using Numbers = std::span<const std::uint32_t>;
    layout_.pieces = DeviceBuffer<std::uint32_t>(Numbers(shares.windows));
    layout_.block_pieces = DeviceBuffer<std::uint32_t>(Numbers(shares.of_block));
    const DeviceBuffer<std::uint32_t> begins{Numbers(shares.begins)}, ends{Numbers(shares.ends)};
    constexpr std::uint32_t warps = gather_threads / warp_size;
    layout_.gather_ranges = DeviceBuffer<SliceRange>(shares.windows.size() * warps);
    layout_.gather_tiles.cut(begins.data(), ends.data(), shares.windows.size(), warps,
                             layout_.gather_ranges.data(), stream_);
    layout_.gather_tiles.finish();
  }

  BlockedLayout<T>& layout_;
  CsrView<T> matrix_;
  ScratchMemory scratch_;
  DeviceAlgorithms algorithms_;
  cudaStream_t stream_;
  std::uint64_t nodes_, runs_ = 0, blocks_ = 0;
  LinkKey link_key_;
  NodeOrder base_;  ///< That nodes are taken in before rows are ordered within their blocks.

  DeviceBuffer<std::uint64_t> keys_, spare_keys_;
  DeviceBuffer<T> values_, spare_values_;
  DeviceBuffer<std::uint64_t> run_begin_;    ///< The first link of each run; runs + 1.
  DeviceBuffer<NodeId> row_of_run_;          ///< In base order.
  DeviceBuffer<std::uint64_t> window_runs_;  ///< The first run of each window; windows + 1.
  DeviceBuffer<std::uint32_t> counts_;       ///< Runs of each row.
  DeviceBuffer<std::uint32_t> row_runs_;     ///< Each row's first in runs_by_row_.
  DeviceBuffer<std::uint32_t> runs_by_row_;  ///< Rows ascending, a row's runs by window.
  DeviceBuffer<std::uint32_t> block_of_row_;
  DeviceBuffer<std::uint32_t> sorted_;   ///< The run at each place, by length within segments.
  DeviceBuffer<std::uint16_t> slots_;    ///< Of each run.
  DeviceBuffer<std::uint16_t> lengths_;  ///< Of the run at each place.
  DeviceBuffer<std::uint32_t> row_keys_;
  DeviceBuffer<NodeId> base_at_, position_of_base_;
};

}  // namespace

template <class T>
BlockedLayout<T>::BlockedLayout(const DeviceGraph<T>& graph, cudaStream_t stream)
    : nodes(graph.node_count()), shape(shape_for<T>(nodes)) {
  const std::uint64_t count = (nodes + shape.window_size - 1) / shape.window_size;
  if (bits_below(count) > static_cast<int>(32 - shape.local_bits)) {
    throw KernelRefused("kernel blocked: " + std::to_string(nodes) + " nodes are too many");
  }
  if (graph.link_count() == 0) throw KernelRefused("kernel blocked: a graph without links");
  windows = static_cast<std::uint32_t>(count);
  Builder<T>(*this, graph, stream).build();
}

template struct BlockedLayout<float>;
template struct BlockedLayout<double>;

}  // namespace pagerank::gpu
