// Prepares the blocked layout on the device: links are brought into the order of rows, sorted by
// window in tiles and cut into runs, rows cut into row blocks, runs put in the order of their
// length, and both passes' ids laid out in slices. Sorts of all elements and scans are CUB's; each
// step is one of them or a small kernel or two, some beside the large ones in a second stream. Here
// are the order of the steps, the order of rows, and both passes; the other steps have files of
// their own.
#include "gpu/blocked_layout.cuh"

#include <string>

#include "gpu/cuda_handles.cuh"
#include "gpu/device.cuh"
#include "gpu/late_stream.cuh"
#include "gpu/link_runs.cuh"
#include "gpu/link_tile.cuh"
#include "gpu/long_rows.cuh"
#include "gpu/node_order.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/row_blocks.cuh"
#include "gpu/run_order.cuh"
#include "gpu/tile_shares.hpp"

namespace pagerank::gpu {
namespace {

std::uint32_t count_multiprocessors() {
  int multiprocessors = 0, device = 0;
  PAGERANK_CUDA(cudaGetDevice(&device));
  PAGERANK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return static_cast<std::uint32_t>(multiprocessors);
}

/// Lists of the first pass: a run's links, by where the run was placed.
template <class T>
struct RunLinks {
  const std::uint32_t* begin_at;
  const std::uint64_t* links_of_window;
  const std::uint16_t* local_of_link;
  const T* values;
  const NodeId* position_of_base;
  std::uint64_t rows;
  std::uint32_t window_size;
  const std::uint16_t* id_of_local = nullptr;  ///< In shared memory: where the window's nodes went.
  __device__ void enter(std::uint64_t window, void* shared) {
    auto* const ids = static_cast<std::uint16_t*>(shared);
    const std::uint64_t first = window * window_size;
    const auto size = static_cast<std::uint32_t>(min(rows - first, std::uint64_t{window_size}));
#pragma unroll 8
    for (std::uint32_t i = threadIdx.x; i < size; i += fill_threads) {
      ids[i] = static_cast<std::uint16_t>(position_of_base[first + i] - first);
    }
    id_of_local = ids;
  }
  __device__ std::uint64_t begin(std::uint64_t window, std::uint64_t place) const {
    return first_link(begin_at[place], links_of_window[window]);
  }
  /// Lists begin anywhere: what is read are whole words, each once.
  struct Ids {
    const std::uint64_t* word;
    std::uint64_t low;  ///< The word.
    unsigned skipped;   ///< Of its four links.
    __device__ std::uint64_t four(unsigned left) {
      const std::uint64_t high = skipped + left > 4 ? *++word : 0;
      const unsigned shift = 16 * skipped;
      const std::uint64_t found = skipped == 0 ? low : low >> shift | high << (64 - shift);
      low = high;
      return found;
    }
  };
  __device__ Ids ids(std::uint64_t link, unsigned length) const {
    const auto* const word = reinterpret_cast<const std::uint64_t*>(local_of_link) + link / 4;
    return {word, length > 0 ? *word : 0, static_cast<unsigned>(link % 4)};
  }
  __device__ std::uint32_t id(std::uint16_t local) const {
    return id_of_local[local];
  }
  __device__ T value(std::uint64_t link) const {
    return values[link];
  }
};

/// Lists of the second pass: the slots of a row's runs.
struct RowRuns {
  RunSlots slots;
  const NodeId* base_at;
  const std::uint32_t* row_runs;
  __device__ std::uint64_t begin(std::uint64_t, std::uint64_t position) const {
    return row_runs[base_at[position]];
  }
  struct Ids {
    RunSlots slots;
    std::uint64_t run;
    __device__ std::uint64_t four(unsigned left) {
      std::uint64_t found = 0;
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (k < left) found |= std::uint64_t{slots.slot(run + k)} << 16 * k;
      }
      run += 4;
      return found;
    }
  };
  __device__ Ids ids(std::uint64_t run, unsigned) const {
    return {slots, run};
  }
  __device__ std::uint32_t id(std::uint16_t slot) const {
    return slot;
  }
  __device__ float value(std::uint64_t) const {
    return 0;
  }
};

/// Ids of a slice that a warp loads at once.
constexpr std::uint64_t bytes_of_step = warp_size * sizeof(std::uint32_t);

/// What rows of a class sort by within their block: long ones (and giants, alone in theirs) first,
/// then by falling number of runs, then those without.
constexpr std::uint32_t class_bits = 8, class_short = 1, class_empty = 255;

__host__ __device__ std::uint32_t row_class(std::uint32_t runs) {
  if (runs == 0) return class_empty;
  return runs > longest_list ? 0 : class_short + longest_list - runs;
}

/// What a layout is prepared in.
struct Scratch {
  ScratchMemory memory;
  bool in_pieces = false;
};

/// Where little of what the device has is taken the layout's memory has the scratch memory, too,
/// and keeps it: memory for the layout, and returning this, would take longer than some steps.
/// Where a large part is taken, scratch memory comes array by array, so that those that have served
/// make room.
template <class T>
Scratch scratch_for(const DeviceGraph<T>& graph, const BlockedLayout<T>& layout) {
  const std::uint64_t links = graph.link_count();
  const std::uint64_t windows = (graph.node_count() - 1) / layout.shape.window_size + 1;
  // To sort the links in, with runs of three links each.
  const std::size_t bytes = bytes_to_find_runs(links, graph.has_values() ? sizeof(T) : 0, windows) +
                            links * 4 + graph.node_count() * std::size_t{40} +
                            (std::size_t{4} << 20);
  if (is_little(bytes, graph.most_held())) {
    ScratchMemory kept = layout.memory;
    kept.reserve(bytes);
    return {kept};
  }
  ScratchMemory memory(layout.memory.stream(), 0, graph.most_held());
  // (The layout takes a quarter as much at least, and half as much and more of shorter runs.)
  const bool in_pieces = bytes > memory.available() / 5 * 2;
  if (!in_pieces) memory.reserve(bytes);
  return {memory, in_pieces};
}

/// The steps of the preparation and what they hand on. (All public: nvcc wants it of who has device
/// lambdas.)
template <class T>
struct Builder {
  Builder(BlockedLayout<T>& layout, const DeviceGraph<T>& graph, const Scratch& scratch,
          cudaStream_t stream)
      : layout_(layout),
        graph_(graph),
        in_pieces_(scratch.in_pieces),
        scratch_(scratch.memory),
        memory_beside_(stream, 0, graph.most_held()),
        algorithms_(scratch_),
        beside_(scratch_, beside_stream_),
        beside_fills_(memory_beside_, beside_stream_),
        stream_(stream),
        base_(graph, layout.shape.window_size, algorithms_),
        rows_(base_.linked()) {}
  /// Where a step fails, others may be on their way beside it, in what is freed then.
  ~Builder() { cudaStreamSynchronize(beside_stream_); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  void build() {
    const BlockedShape& shape = layout_.shape;
    layout_.rows = rows_;
    layout_.windows = static_cast<std::uint32_t>((base_.sources() - 1) / shape.window_size + 1);
    links_ = find_link_runs(graph_, base_, shape, layout_.windows, algorithms_);
    if (in_pieces_) scratch_.give_back();  // the layout needs it
    layout_.runs = links_.runs.count;
    const std::uint32_t multiprocessors = count_multiprocessors();
    layout_.gather_blocks = multiprocessors;
    cut_ = cut_row_blocks(links_.by_row, shape, multiprocessors, algorithms_);
    if (cut_.blocks >= (std::uint64_t{1} << (32 - class_bits))) {
      throw KernelRefused("kernel blocked: " + std::to_string(cut_.blocks) + " row blocks");
    }
    // Three large kernels take the device longest: the last of order_runs() and the two fills.
    // Steps that are small, or for which the host waits, are beside them in a stream of their own.
    run_order_ = order_runs(links_.runs, links_.by_row, cut_, shape, layout_.windows,
                            layout_.memory, algorithms_, queued_);
    queued_.hold_back(beside_stream_);
    be_late_if_asked(LayoutStream::beside, beside_stream_);
    layout_.segments = std::move(run_order_.segments);
    order_rows();
    measure_combine();
    hold_back(stream_, beside_stream_);
    measure_gather();
    hold_back(beside_stream_, stream_);
    be_late_if_asked(LayoutStream::beside, beside_stream_);
    be_late_if_asked(LayoutStream::first, stream_);
    free_scratch(run_order_.under_way);
    fill_gather();
    free_scratch(links_.runs.local_of_link, links_.values, run_order_.begin_at, run_order_.lengths);
    be_late_if_asked(LayoutStream::beside, beside_stream_);
    be_late_if_asked(LayoutStream::first, stream_);
    fill_combine();
    share_windows();
    add_long_rows();
    hold_back(stream_, beside_stream_);
    layout_.gather_tiles.finish();
    layout_.combine_tiles.finish();
    PAGERANK_CUDA(cudaStreamSynchronize(stream_));
  }

  /// What is queued from now on waits for what `other` has so far.
  void hold_back(cudaStream_t stream, cudaStream_t other) {
    queued_.record(other);
    queued_.hold_back(stream);
  }

  /// For what is queued into stream_ from now on.
  template <class... Buffers>
  void free_scratch(Buffers&... buffers) {
    ((buffers = {}), ...);
    if (in_pieces_) scratch_.give_back();
  }

  /// base_at_, position_of_base_, layout.order, row_keys_.
  void order_rows() {
    DeviceBuffer<std::uint32_t> keys(rows_, scratch_), spare_keys(rows_, scratch_);
    DeviceBuffer<NodeId> rows(rows_, scratch_), spare_rows(rows_, scratch_);
    std::uint32_t* const key = keys.data();
    NodeId* const number = rows.data();
    const std::uint32_t* const counts = links_.by_row.counts.data();
    const std::uint32_t* const block_of_row = cut_.block_of_row.data();
    queue_for_each(
        rows_,
        [=] __device__(std::uint64_t row) {
          key[row] = block_of_row[row] << class_bits | row_class(counts[row]);
          number[row] = static_cast<NodeId>(row);
        },
        beside_stream_);
    cub::DoubleBuffer<std::uint32_t> sorted_keys(keys.data(), spare_keys.data());
    cub::DoubleBuffer<NodeId> sorted_rows(rows.data(), spare_rows.data());
    beside_.sort(sorted_keys, sorted_rows, rows_, 0,
                 static_cast<int>(class_bits) + bits_below(cut_.blocks));
    row_keys_ = std::move(sorted_keys.Current() == keys.data() ? keys : spare_keys);
    base_at_ = std::move(sorted_rows.Current() == rows.data() ? rows : spare_rows);
    position_of_base_ = DeviceBuffer<NodeId>(rows_, scratch_);
    layout_.order = DeviceBuffer<NodeId>(layout_.nodes, layout_.memory);
    const NodeId* const base_at = base_at_.data();
    NodeId *const position_of_base = position_of_base_.data(), *const order = layout_.order.data();
    const NodeOrderView base = base_.view();
    const std::uint64_t linked = rows_;
    queue_for_each(
        layout_.nodes,
        [=] __device__(std::uint64_t position) {
          if (position >= linked) {
            order[position] = base.node(position);
            return;
          }
          position_of_base[base_at[position]] = static_cast<NodeId>(position);
          order[position] = base.node(base_at[position]);
        },
        beside_stream_);
  }

  [[nodiscard]] SliceLists gather_lists() const {
    return {.groups = layout_.windows,
            .begin = links_.runs.of_window.data(),
            .end = links_.runs.of_window.data() + 1,
            .lengths = run_order_.lengths.data(),
            .most = layout_.runs};
  }

  void measure_gather() {
    const bool weighted = graph_.has_values();
    // Least squares of blocks' times on an H100; a store takes less of a warp's time than a load.
    const SliceWork work{.step = bytes_of_step + (weighted ? 2 * warp_size * sizeof(T) : 0),
                         .slice = warp_size * sizeof(T) * 3 / 5};
    layout_.gather_tiles = SliceTiles(gather_lists(), 32, work, layout_.memory, algorithms_);
    layout_.partials = layout_.gather_tiles.slices() * warp_size;
    layout_.gather_tiles.share_fill(algorithms_);
    layout_.window_partials = DeviceBuffer<std::uint64_t>(layout_.windows, layout_.memory);
    std::uint64_t* const partials = layout_.window_partials.data();
    const std::uint32_t* const slices = layout_.gather_tiles.group_slices();
    queue_for_each(
        layout_.windows,
        [=] __device__(std::uint64_t w) { partials[w] = std::uint64_t{slices[w]} * warp_size; },
        stream_);
  }

  void fill_gather() {
    const bool weighted = graph_.has_values();
    layout_.gather_tiles.allocate_ids(layout_.memory, stream_);
    if (weighted) {
      const std::uint64_t count = (layout_.gather_tiles.steps() + steps_of_batch) * warp_size * 2;
      layout_.gather_values = DeviceBuffer<T>(count, layout_.memory);
      layout_.gather_values.set_to_zero(stream_);
    }
    const std::uint32_t padding = layout_.shape.window_size;
    const RunLinks<T> source{.begin_at = run_order_.begin_at.data(),
                             .links_of_window = links_.runs.links_of_window.data(),
                             .local_of_link = links_.runs.local_of_link.data(),
                             .values = links_.values.data(),
                             .position_of_base = position_of_base_.data(),
                             .rows = rows_,
                             .window_size = layout_.shape.window_size};
    layout_.gather_tiles.fill_by_group(
        gather_lists(), source, layout_.shape.window_size * sizeof(std::uint16_t), padding,
        weighted ? layout_.gather_values.data() : static_cast<T*>(nullptr), stream_);
  }

  /// lengths[position] = the runs of the row there, or as many as a list may have.
  void measure_rows(std::uint16_t* lengths) {
    const std::uint32_t* const counts = links_.by_row.counts.data();
    const NodeId* const base_at = base_at_.data();
    queue_for_each(
        rows_,
        [=] __device__(std::uint64_t position) {
          lengths[position] =
              static_cast<std::uint16_t>(min(counts[base_at[position]], longest_list));
        },
        beside_stream_);
  }

  /// The rows of each block that are in slices: [begin[block], end[block]); also to row_blocks.
  void bound_short_rows(std::uint64_t* begin, std::uint64_t* end, RowBlock* row_blocks) {
    const std::uint64_t rows = rows_;
    const std::uint32_t* const row_keys = row_keys_.data();
    queue_for_each(
        cut_.blocks,
        [=] __device__(std::uint64_t block) {
          const auto first = [&](std::uint64_t key) { return lower_bound(row_keys, rows, key); };
          const std::uint64_t key = block << class_bits;
          begin[block] = first(key + class_short);
          end[block] = first(key + class_empty);
          row_blocks[block].short_begin = static_cast<std::uint32_t>(begin[block]);
          row_blocks[block].empty_begin = static_cast<std::uint32_t>(end[block]);
          row_blocks[block].end = static_cast<std::uint32_t>(first(key + class_empty + 1));
        },
        beside_stream_);
  }

  void measure_combine() {
    const std::uint64_t blocks = cut_.blocks;
    row_lengths_ = DeviceBuffer<std::uint16_t>(rows_, scratch_);
    short_begin_ = DeviceBuffer<std::uint64_t>(blocks, scratch_);
    empty_begin_ = DeviceBuffer<std::uint64_t>(blocks, scratch_);
    layout_.row_blocks = DeviceBuffer<RowBlock>(blocks, layout_.memory);
    layout_.row_blocks.set_to_zero(beside_stream_);
    measure_rows(row_lengths_.data());
    bound_short_rows(short_begin_.data(), empty_begin_.data(), layout_.row_blocks.data());
    const SliceWork work{.step = bytes_of_step, .slice = warp_size * sizeof(T)};
    layout_.combine_tiles = SliceTiles(combine_lists(), 8, work, layout_.memory, beside_);
  }

  [[nodiscard]] SliceLists combine_lists() const {
    return {.groups = cut_.blocks,
            .begin = short_begin_.data(),
            .end = empty_begin_.data(),
            .lengths = row_lengths_.data(),
            .most = rows_};
  }

  void fill_combine() {
    const std::uint64_t blocks = cut_.blocks;
    layout_.combine_tiles.allocate_ids(layout_.memory, stream_);
    layout_.combine_tiles.fill(combine_lists(),
                               RowRuns{run_slots(), base_at_.data(), links_.by_row.begin.data()}, 0,
                               static_cast<float*>(nullptr), stream_);
    RowBlock* const row_blocks = layout_.row_blocks.data();
    const std::uint32_t* const slices = layout_.combine_tiles.group_slices();
    queue_for_each(
        blocks, [=] __device__(std::uint64_t b) { row_blocks[b].first_slice = slices[b]; },
        stream_);
    const std::uint32_t warps = layout_.shape.threads / warp_size;
    layout_.combine_ranges = DeviceBuffer<SliceRange>(blocks * warps, layout_.memory);
    const std::uint32_t* const tiles = layout_.combine_tiles.group_tiles();
    layout_.combine_tiles.cut(tiles, tiles + 1, blocks, warps, layout_.combine_ranges.data(),
                              stream_);
  }

  [[nodiscard]] RunSlots run_slots() const {
    return {links_.by_row.runs.data(), run_order_.slots.data()};
  }

  void add_long_rows() {
    LongRows long_rows = list_long_rows(links_.by_row, cut_, base_at_, run_slots(), layout_.shape,
                                        layout_.row_blocks, memory_beside_, beside_fills_);
    layout_.long_rows = std::move(long_rows.rows);
    layout_.giants = std::move(long_rows.giants);
    layout_.giant_of_piece = std::move(long_rows.giant_of_piece);
    layout_.long_ids = std::move(long_rows.ids);
  }

  /// work[c] = that of all tiles before cut c.
  std::vector<std::uint64_t> work_before_cuts(const std::vector<std::uint32_t>& cuts) {
    const DeviceBuffer<std::uint32_t> tiles = beside_fills_.upload(cuts, memory_beside_);
    DeviceBuffer<std::uint64_t> work(cuts.size(), memory_beside_);
    const std::uint32_t* const tile = tiles.data();
    const std::uint64_t* const before = layout_.gather_tiles.work_before();
    std::uint64_t* const of_cut = work.data();
    queue_for_each(
        cuts.size(), [=] __device__(std::uint64_t c) { of_cut[c] = before[tile[c]]; },
        beside_stream_);
    return beside_fills_.fetch(work.data(), work.size());
  }

  /// Tiles of the first pass to as many blocks as there are multiprocessors.
  void share_windows() {
    // Of many tiles not all are looked at: the host would take longer than the device with all
    // else.
    constexpr std::uint64_t cuts_of_block = 256;
    const std::uint64_t apart =
        layout_.gather_tiles.tiles() / (cuts_of_block * layout_.gather_blocks) + 1;
    const TileCuts cuts = cut_windows(
        beside_fills_.fetch(layout_.gather_tiles.group_tiles(), layout_.windows + 1), apart);
    // Least squares of blocks' times on an H100.
    const double window_work = 0.6 * layout_.shape.window_size * sizeof(T);
    TileShares shares = share_tiles(cuts.of_window, work_before_cuts(cuts.tiles), window_work,
                                    layout_.gather_blocks);
    for (std::uint32_t& cut : shares.begins) cut = cuts.tiles[cut];
    for (std::uint32_t& cut : shares.ends) cut = cuts.tiles[cut];
    layout_.pieces = beside_fills_.upload(shares.windows, memory_beside_);
    layout_.block_pieces = beside_fills_.upload(shares.of_block, memory_beside_);
    const DeviceBuffer<std::uint32_t> begins = beside_fills_.upload(shares.begins, memory_beside_),
                                      ends = beside_fills_.upload(shares.ends, memory_beside_);
    constexpr std::uint32_t warps = gather_threads / warp_size;
    layout_.gather_ranges = DeviceBuffer<SliceRange>(shares.windows.size() * warps, memory_beside_);
    layout_.gather_tiles.cut(begins.data(), ends.data(), shares.windows.size(), warps,
                             layout_.gather_ranges.data(), beside_stream_);
  }

  BlockedLayout<T>& layout_;
  const DeviceGraph<T>& graph_;
  bool in_pieces_;  ///< Scratch memory comes array by array.
  ScratchMemory scratch_;
  Stream beside_stream_{Stream::Priority::first};  ///< Small kernels beside a large one.
  Event queued_{cudaEventDisableTiming};
  /// While stream_ goes on with buffers that are free again. What is left of it lives on with the
  /// layout, and so it is stream_'s, though until all is joined only beside_stream_ takes any.
  ScratchMemory memory_beside_;
  DeviceAlgorithms algorithms_;
  DeviceAlgorithms beside_;        ///< In what stream_ waits for before it takes more.
  DeviceAlgorithms beside_fills_;  ///< In memory_beside_.
  cudaStream_t stream_;
  NodeOrder base_;  ///< That nodes are taken in before rows are ordered within their blocks.
  std::uint64_t rows_;

  LinkRuns<T> links_{};
  RowBlockCut cut_;
  RunOrder run_order_;
  DeviceBuffer<std::uint32_t> row_keys_;     ///< Row block and class of the row at each position.
  DeviceBuffer<std::uint16_t> row_lengths_;  ///< By position.
  DeviceBuffer<std::uint64_t> short_begin_, empty_begin_;  ///< By row block.
  DeviceBuffer<NodeId> base_at_, position_of_base_;
};

}  // namespace

template <class T>
BlockedLayout<T>::BlockedLayout(const DeviceGraph<T>& graph, cudaStream_t stream)
    : memory(stream, 0, graph.most_held()),
      nodes(graph.node_count()),
      shape(blocked_shape(sizeof(T), device_traits().shared_memory)) {
  if (!shape.has_room_for_piece()) {
    const std::size_t bytes = device_traits().shared_memory.most_of_block;
    throw KernelRefused("kernel blocked: " + std::to_string(bytes) +
                        " bytes of shared memory are too few");
  }
  const std::uint64_t most_windows = (nodes - 1) / shape.window_size + 1;
  if (bits_below(most_windows) > static_cast<int>(32 - tile_number_bits)) {
    throw KernelRefused("kernel blocked: " + std::to_string(nodes) + " nodes are too many");
  }
  if (graph.link_count() == 0) throw KernelRefused("kernel blocked: a graph without links");
  Builder<T>(*this, graph, scratch_for(graph, *this), stream).build();
}

template struct BlockedLayout<float>;
template struct BlockedLayout<double>;

}  // namespace pagerank::gpu
