#pragma once

#include <cstdint>

#include "gpu/blocked_shape.hpp"
#include "gpu/device_graph.cuh"
#include "gpu/slice_tiles.cuh"

namespace pagerank::gpu {

/// Where the partial sums of a segment lie, and where they go.
struct alignas(8) Segment {
  std::uint32_t begin;  ///< In the window's partial sums.
  std::uint16_t length;
  std::uint16_t slot;  ///< In shared memory; 0 is the one that is 0.
};

/// The rows of a block, by position: rows longer than a list, rows in slices, rows without runs.
struct RowBlock {
  std::uint32_t short_begin, empty_begin, end;
  std::uint32_t long_begin, long_end;  ///< In the long rows.
  std::uint32_t first_slice;
};

/// A row, or piece of a giant, that a warp adds up.
struct LongRow {
  std::uint64_t first_id;  ///< In the long ids.
  std::uint64_t target;    ///< Its position; from the number of rows on: a giant's piece.
  std::uint32_t length;
  std::uint32_t block;
  std::uint32_t first_run;  ///< In the runs by row; only for preparing.
};

/// A row whose pieces [begin, end) are added up by whoever brings the last.
struct Giant {
  std::uint32_t position, begin, end;
};

/// See BlockedShape for the terms.
template <class T>
struct BlockedLayout {
  /// Lays the graph out. Throws KernelRefused, and OutOfMemory as soon as it is known how much the
  /// next stage takes.
  BlockedLayout(const DeviceGraph<T>& graph, cudaStream_t stream);

  ScratchMemory memory;  ///< Of most arrays (what is made beside others has its own), and of who
                         ///< multiplies.
  std::uint64_t nodes = 0;
  std::uint64_t rows = 0;  ///< Positions of nodes with links; those behind are in no row block.
  BlockedShape shape{};
  std::uint32_t windows = 0;  ///< That hold all nodes with out-links.
  std::uint64_t partials = 0;
  std::uint64_t runs = 0;
  DeviceBuffer<NodeId> order;  ///< The node at each position.

  SliceTiles gather_tiles;  ///< Groups: windows.
  DeviceBuffer<T> gather_values;
  DeviceBuffer<std::uint64_t> window_partials;  ///< Each window's first.
  std::uint32_t gather_blocks = 0;
  DeviceBuffer<std::uint32_t> pieces;        ///< The window of each piece of work.
  DeviceBuffer<std::uint32_t> block_pieces;  ///< Each block's first piece; gather_blocks + 1.
  DeviceBuffer<SliceRange> gather_ranges;    ///< Of each piece, each warp.

  SliceTiles combine_tiles;  ///< Groups: row blocks.
  DeviceBuffer<RowBlock> row_blocks;
  DeviceBuffer<SliceRange> combine_ranges;  ///< Of each row block, each warp.
  DeviceBuffer<Segment> segments;           ///< row blocks * windows
  DeviceBuffer<LongRow> long_rows;
  DeviceBuffer<std::uint16_t> long_ids;
  DeviceBuffer<Giant> giants;
  DeviceBuffer<std::uint32_t> giant_of_piece;
};

}  // namespace pagerank::gpu
