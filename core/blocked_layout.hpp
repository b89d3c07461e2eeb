#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/array.hpp"
#include "core/csr_matrix.hpp"
#include "core/thread_team.hpp"

namespace pagerank {

/// The sizes a BlockedLayout is cut by, all above 0 but for group_bytes. Tests make them small.
struct BlockedSizes {
  /// Bytes of z in a window: so much of it stays in a core's cache while it is gathered from. A
  /// power of two; a window has at most 2^16 nodes.
  std::uint32_t window_bytes = 1 << 18;
  /// Rows of a row block at most: their sums, doubles, stay in a core's cache. A power of two, at
  /// most 2^16.
  std::uint32_t block_rows = 1 << 15;
  /// Row blocks with more links than this are halved, unless they have fewer rows than `least_rows`
  /// then.
  EdgeIndex block_links = 1 << 19;
  std::uint32_t least_rows = 64;
  /// Bytes of the partial sums of a group of row blocks, about: what is held of them at a time. 0:
  /// as the ids of the matrix's links take, whose memory they may have once it is laid out, but of
  /// graphs with few links a node some less, so that a run takes at most 2.5 times the matrix.
  std::size_t group_bytes = 0;
  /// What that reckons with beside the links: the vectors of a solve. Whoever holds more adds it.
  std::size_t bytes_a_node = 24;
  /// Links of a piece of work in the first pass, about.
  EdgeIndex task_links = 1 << 17;
  /// Partial sums of a group that take more bytes than this are written past the caches.
  std::size_t streamed_bytes = std::size_t{8} << 20;
};

/// The in-links of a graph cut into windows of sources and blocks of rows, so that what is gathered
/// at random always lies in a core's cache. A multiplication is two passes, as in
/// gpu/spmv_blocked.cu:
///
/// 1. For each window, each *run* (the links from that window into one row, cut at longest_run) is
///    added up: ids of 16 bits, z out of the cache, one partial sum a run.
/// 2. For each block of rows the runs' partial sums are added to their rows.
///
/// Row blocks are taken in groups, both passes for one after the other, so that there is memory for
/// the partial sums of one group only: where that of the matrix's ids holds them all, one group.
/// Within a *segment*, the runs of one window and one row block, runs are in order of length: a
/// loop of so many equal ones has no branch to mispredict. What makes no run is met by no loop:
/// rows without links, nodes without out-links.
///
/// Row blocks lie one after the other, windows within: so a block's links can be laid out as soon
/// as they are there, whatever others look like (core/transition_builder_blocks.cpp does it while
/// the matrix is built). The first pass takes segments of all blocks for one window after the
/// other, each in order, and writes a segment's partial sums where the second will read them: whole
/// cache lines, for each segment's runs begin at a multiple of `padded_to`. What is left over
/// belongs to the block's row 0 and has sums of 0.
///
/// The idea is propagation blocking (S. Beamer, K. Asanovic, D. Patterson: Reducing PageRank
/// Communication via Propagation Blocking, IPDPS 2017) with sums in place of single contributions.
struct BlockedLayout {
  /// Longer ones are cut, so that plain addition of a run loses few digits.
  static constexpr std::uint32_t longest_run = 64;
  /// A cache line of floats, two of doubles.
  static constexpr std::uint32_t padded_to = 16;

  /// `runs` neighbouring runs of `length` links each.
  struct RunClass {
    std::uint32_t length;
    std::uint32_t runs;
  };
  struct Segment {
    EdgeIndex first_link;
    EdgeIndex first_run;  ///< In partial sums.
    std::size_t first_class;
  };
  struct RowBlock {
    NodeId begin, end;  ///< Rows.
    EdgeIndex first_link = 0;
    EdgeIndex first_row = 0;  ///< In `rows`: of its runs, in the order of their partial sums.
    EdgeIndex first_run = 0, last_run = 0;  ///< In partial sums.
  };
  /// A task is some of the pairs of a window and a row block of the group, in that order.
  struct Group {
    std::size_t first_block, last_block;  ///< The latter is no longer in it.
    std::size_t first_task, last_task;
  };

  NodeId node_count = 0;
  BlockedSizes sizes;
  std::uint32_t window_nodes = 0;
  std::size_t window_count = 0;
  std::vector<RowBlock> blocks;
  std::vector<Group> groups;
  std::vector<std::size_t> tasks;  ///< First pair of each, for each group one more: the end.
  std::vector<Segment> segments;   ///< By row block, then window. And one more: the end.
  std::vector<RunClass> classes;   ///< Lengths ascending within a segment.
  Array<std::uint16_t> sources;    ///< A link: position within the window.
  Array<std::uint16_t> rows;       ///< A run, padding too: position within the row block.
  Array<float> narrow_values;      ///< A link; of weighted graphs one of the two.
  Array<double> values;
  EdgeIndex largest_group = 0;  ///< In runs, as that of a block.
  EdgeIndex largest_block = 0;

  /// Those that are held at a time, at least; `narrow`: of floats, but for exact sums.
  [[nodiscard]] std::size_t bytes_of_partials(bool narrow) const {
    return std::max(largest_group * (narrow ? sizeof(float) : sizeof(double)),
                    largest_block * sizeof(double));
  }
  [[nodiscard]] std::size_t segment_of(std::size_t block, std::size_t window) const {
    return block * window_count + window;
  }
};

/// Lays a matrix out, the same for any number of threads but for where rows of a block lie.
/// `narrow`: z and values are floats. Rows hold their columns ascending, so that runs lie in the
/// matrix as they are: it takes two passes over each block, as long as some iterations.
[[nodiscard]] BlockedLayout make_blocked_layout(const CsrMatrix& links, bool narrow,
                                                const BlockedSizes& sizes, ThreadTeam& team);

/// Nodes of a window for z of floats or doubles.
[[nodiscard]] std::uint32_t window_nodes(const BlockedSizes& sizes, bool narrow);

}  // namespace pagerank
