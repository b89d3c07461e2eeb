#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <vector>

#include "core/blocked_layout.hpp"

namespace pagerank {

/// A BlockedLayout that is being made: its row blocks are laid out in any order, by several
/// threads, each by one.
class BlockedLayoutDraft {
 public:
  struct Graph {
    NodeId nodes;
    EdgeIndex links;
    bool weighted;
  };
  BlockedLayoutDraft(const Graph& graph, bool narrow, const BlockedSizes& sizes);

  /// First of all: cuts rows into blocks. `links_before(row)`: in all rows before that; asked for
  /// multiples of block_rows, for halves of what has too many links, and for the end.
  template <class LinksBefore>
  void cut_blocks(const LinksBefore& links_before) {
    const std::size_t nodes = layout_.node_count, most = layout_.sizes.block_rows;
    for (std::size_t begin = 0; begin < nodes;) {
      // The largest block that may begin here: rows of a power of two that it is a multiple of.
      std::size_t rows =
          begin % most == 0 ? most : std::size_t{1} << std::countr_zero(begin % most);
      const EdgeIndex first_link = links_before(begin);
      while (rows / 2 >= layout_.sizes.least_rows &&
             links_before(std::min(nodes, begin + rows)) - first_link > layout_.sizes.block_links) {
        rows /= 2;
      }
      const std::size_t end = std::min(nodes, begin + rows);
      layout_.blocks.push_back(
          {static_cast<NodeId>(begin), static_cast<NodeId>(end), first_link, 0, 0, 0});
      begin = end;
    }
    make_arrays();
  }
  [[nodiscard]] const std::vector<BlockedLayout::RowBlock>& blocks() const {
    return layout_.blocks;
  }

  [[nodiscard]] int window_shift() const { return std::countr_zero(layout_.window_nodes); }
  [[nodiscard]] std::uint32_t window_nodes() const { return layout_.window_nodes; }
  [[nodiscard]] std::size_t window_count() const { return layout_.window_count; }

  /// How many runs of which lengths the segments of a row block have, window by window.
  class BlockShape {
   public:
    /// The next window's, of which counts[length] are of that length, up to longest_run.
    void add_segment(const std::uint32_t* counts);

   private:
    friend class BlockedLayoutDraft;
    struct Segment {
      EdgeIndex links = 0, runs = 0;  ///< Padding is not counted.
      std::size_t classes = 0;
    };
    std::vector<Segment> segments_;
    std::vector<BlockedLayout::RunClass> classes_;
    EdgeIndex runs_ = 0;  ///< Padding is.
  };
  /// Gives a block's runs their place in `rows`, which is returned.
  EdgeIndex place(std::size_t block, BlockShape shape);

  /// The arrays that blocks are laid out in. Links of a block begin at its first_link.
  [[nodiscard]] BlockedLayout& arrays() { return layout_; }

  /// Once all blocks are laid out.
  [[nodiscard]] BlockedLayout finish();

  [[nodiscard]] static EdgeIndex padded(EdgeIndex runs) {
    constexpr EdgeIndex to = BlockedLayout::padded_to;
    return (runs + to - 1) / to * to;
  }

 private:
  void make_arrays();
  void add_segments();
  void add_groups();
  void add_tasks(std::size_t first, std::size_t last);

  BlockedLayout layout_;
  Graph graph_;
  bool narrow_;
  std::vector<BlockShape> shapes_;      ///< One a block.
  std::atomic<EdgeIndex> next_row_{0};  ///< In `rows`.
};

}  // namespace pagerank
