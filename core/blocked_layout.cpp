#include "core/blocked_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "core/huge_pages.hpp"
#include "core/prefetch.hpp"
#include "core/scratch_memory.hpp"

namespace pagerank {
namespace {

constexpr std::uint32_t lengths = BlockedLayout::longest_run + 1;

/// Calls run(window, length, first_link) for each run of a row.
template <class Run>
void for_each_run(const CsrMatrix& links, NodeId row, int window_shift, Run run) {
  const EdgeIndex end = links.row_offsets[row + 1];
  for (EdgeIndex k = links.row_offsets[row]; k < end;) {
    const NodeId window = links.column_indices[k] >> window_shift;
    const EdgeIndex longest = std::min<EdgeIndex>(end, k + BlockedLayout::longest_run);
    EdgeIndex last = k + 1;
    while (last < longest && links.column_indices[last] >> window_shift == window) ++last;
    run(window, static_cast<std::uint32_t>(last - k), k);
    k = last;
  }
}

/// Counts the runs of rows [begin, end), those of for_each_run(), by window and length:
/// counts[window * lengths + length].
/// (Of length 0 it may count some, too.) Where runs begin cannot be foretold, so that is written
/// down first, of some links at a time and without a branch: the counting waits for nothing then.
void count_runs(const CsrMatrix& links, NodeId begin, NodeId end, int window_shift,
                std::uint32_t* counts) {
  constexpr std::size_t at_once = 2048;
  static_assert(at_once % BlockedLayout::longest_run == 0);
  std::array<std::uint8_t, at_once> begins;
  std::array<std::uint16_t, at_once + 1> places;
  const EdgeIndex* row = links.row_offsets.data() + begin;
  const EdgeIndex last = links.row_offsets[end];
  for (EdgeIndex first = *row; first < last;) {
    const std::size_t size = std::min<EdgeIndex>(at_once, last - first);
    const NodeId* const columns = links.column_indices.data() + first;
    begins[0] = 1;
    for (std::size_t k = 1; k < size; ++k) {
      begins[k] = ((columns[k] ^ columns[k - 1]) >> window_shift) != 0 ? 1 : 0;
    }
    for (; *row < first + size; ++row) begins[*row - first] = 1;
    std::size_t runs = 0;
    for (std::size_t k = 0; k < size; ++k) {
      places[runs] = static_cast<std::uint16_t>(k);
      runs += begins[k];
    }
    places[runs] = static_cast<std::uint16_t>(size);
    // The last may go on: it comes again, with the next links, unless it is all of these.
    if (first + size < last && runs > 1) --runs;
    for (std::size_t r = 0; r < runs; ++r) {
      std::uint32_t length = places[r + 1] - places[r];
      const std::size_t window = columns[places[r]] >> window_shift;
      std::uint32_t* const of_window = counts + window * lengths;
      if (length > BlockedLayout::longest_run) {
        of_window[BlockedLayout::longest_run] += length / BlockedLayout::longest_run;
        length %= BlockedLayout::longest_run;
      }
      ++of_window[length];
    }
    first += places[runs];
  }
}

/// Of those that are held at a time: as many as the links' ids take, but of graphs with few links a
/// node less, so that a whole run takes no more than 2.5 times the matrix, or as near to it as a
/// few groups come.
std::size_t bytes_of_partial_sums(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes) {
  const std::size_t ids = links.element_count() * sizeof(NodeId);
  if (!links.values.empty()) return ids;  // beside weights they are little
  const std::size_t matrix = ids + links.row_count() * sizeof(EdgeIndex);
  // The program, beside matrices that it does not outweigh; segments and what is left over of
  // pages.
  const std::size_t program = std::min(matrix / 10, std::size_t{12} << 20), rest = matrix / 20;
  const std::size_t most = matrix * 5 / 2 - program - rest;
  const std::size_t layout = 2 * links.element_count() * sizeof(std::uint16_t);
  const std::size_t others = layout + links.row_count() * sizes.bytes_a_node;
  return std::clamp(most - std::min(most, others), ids / (narrow ? 4 : 2), ids);
}

class Builder {
 public:
  Builder(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes, ThreadTeam& team)
      : links_(links),
        team_(team),
        weighted_(!links.values.empty()),
        narrow_(narrow),
        window_shift_(std::countr_zero(window_nodes(sizes, narrow))) {
    layout_.node_count = links.row_count();
    layout_.sizes = sizes;
    if (sizes.group_bytes == 0) {
      // A line less: the ids begin anywhere, what takes their place at a line.
      constexpr std::size_t line = ScratchMemory::line;
      layout_.sizes.group_bytes =
          std::max(line, bytes_of_partial_sums(links, narrow, sizes)) - line;
    }
    layout_.window_nodes = window_nodes(sizes, narrow);
    layout_.window_count =
        (std::size_t{layout_.node_count} + layout_.window_nodes - 1) / layout_.window_nodes;
  }

  BlockedLayout build() {
    cut_blocks();
    {
      std::vector<BlockShape> shapes(layout_.blocks.size());
      team_.for_each(shapes.size(), [&](std::size_t b) { shapes[b] = measure(b); });
      cut_groups(shapes);
    }
    const EdgeIndex links = links_.element_count();
    layout_.sources.resize(links);
    layout_.rows.resize(layout_.blocks.back().last_run);
    layout_.narrow_values.resize(weighted_ && narrow_ ? links : 0);
    layout_.values.resize(weighted_ && !narrow_ ? links : 0);
    advise_huge_pages(std::span(layout_.sources));
    advise_huge_pages(std::span(layout_.rows));
    advise_huge_pages(std::span(layout_.narrow_values));
    advise_huge_pages(std::span(layout_.values));
    for (const BlockedLayout::Group& group : layout_.groups) {
      team_.for_each(group.last_block - group.first_block, [&](std::size_t i) {
        const std::size_t b = group.first_block + i;
        if (!weighted_) return fill<false>(group, b, static_cast<float*>(nullptr));
        if (narrow_) return fill<true>(group, b, layout_.narrow_values.data());
        fill<true>(group, b, layout_.values.data());
      });
    }
    return std::move(layout_);
  }

 private:
  struct SegmentShape {
    EdgeIndex links = 0, runs = 0;  ///< Padding is not counted.
    std::size_t classes = 0;
  };
  struct BlockShape {
    std::vector<SegmentShape> windows;
    std::vector<BlockedLayout::RunClass> classes;
    EdgeIndex runs = 0;  ///< Padding is.
  };

  static EdgeIndex padded(EdgeIndex runs) {
    constexpr EdgeIndex to = BlockedLayout::padded_to;
    return (runs + to - 1) / to * to;
  }

  /// Row blocks of about equal work: by links and by rows.
  void cut_blocks() {
    const std::size_t n = layout_.node_count, unit = layout_.sizes.least_rows;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < n; at += unit) {
      const std::size_t end = std::min(n, at + unit);
      const bool full =
          links_.row_offsets[end] - links_.row_offsets[begin] > layout_.sizes.block_links ||
          end - begin > layout_.sizes.block_rows;
      if (full && at > begin) {
        layout_.blocks.push_back({static_cast<NodeId>(begin), static_cast<NodeId>(at)});
        begin = at;
      }
    }
    layout_.blocks.push_back({static_cast<NodeId>(begin), static_cast<NodeId>(n)});
  }

  /// Counts a row block's runs by window and length.
  [[nodiscard]] BlockShape measure(std::size_t b) const {
    std::vector<std::uint32_t> counts(layout_.window_count * lengths);
    count_runs(links_, layout_.blocks[b].begin, layout_.blocks[b].end, window_shift_,
               counts.data());
    BlockShape shape;
    shape.windows.resize(layout_.window_count);
    for (std::size_t w = 0; w < layout_.window_count; ++w) {
      SegmentShape& segment = shape.windows[w];
      for (std::uint32_t length = 1; length < lengths; ++length) {
        const std::uint32_t runs = counts[w * lengths + length];
        if (runs == 0) continue;
        shape.classes.push_back({length, runs});
        segment.links += EdgeIndex{length} * runs;
        segment.runs += runs;
        ++segment.classes;
      }
      shape.runs += padded(segment.runs);
    }
    return shape;
  }

  void cut_groups(const std::vector<BlockShape>& shapes) {
    EdgeIndex runs = 0;
    for (std::size_t b = 0; b < shapes.size(); ++b) {
      layout_.blocks[b].first_run = runs;
      layout_.blocks[b].last_run = runs += shapes[b].runs;
      layout_.largest_block = std::max(layout_.largest_block, shapes[b].runs);
    }
    const EdgeIndex most = layout_.sizes.group_bytes / (narrow_ ? sizeof(float) : sizeof(double));
    for (std::size_t first = 0; first < shapes.size();) {
      std::size_t last = first + 1;
      const EdgeIndex begin = layout_.blocks[first].first_run;
      while (last < shapes.size() && layout_.blocks[last].last_run - begin <= most) ++last;
      layout_.largest_group =
          std::max(layout_.largest_group, layout_.blocks[last - 1].last_run - begin);
      add_group(shapes, first, last);
      first = last;
    }
    layout_.segments.push_back(at_);
    layout_.tasks.push_back(layout_.segments.size() - 1);
  }

  /// Gives the segments of row blocks [first, last) their places, which begin at at_.
  void add_group(const std::vector<BlockShape>& shapes, std::size_t first, std::size_t last) {
    BlockedLayout::Group group{first, last, layout_.segments.size(), layout_.tasks.size(), 0};
    std::vector<std::size_t> class_at(last - first);
    std::vector<EdgeIndex> run_at(last - first);
    for (std::size_t b = first; b < last; ++b) run_at[b - first] = layout_.blocks[b].first_run;
    EdgeIndex in_task = layout_.sizes.task_links;  // the group begins a task
    for (std::size_t w = 0; w < layout_.window_count; ++w) {
      for (std::size_t b = first; b < last; ++b) {
        if (in_task >= layout_.sizes.task_links) {
          layout_.tasks.push_back(layout_.segments.size());
          in_task = 0;
        }
        const SegmentShape& segment = shapes[b].windows[w];
        at_.first_run = run_at[b - first];
        layout_.segments.push_back(at_);
        const auto classes =
            shapes[b].classes.begin() + static_cast<std::ptrdiff_t>(class_at[b - first]);
        layout_.classes.insert(layout_.classes.end(), classes,
                               classes + static_cast<std::ptrdiff_t>(segment.classes));
        class_at[b - first] += segment.classes;
        run_at[b - first] += padded(segment.runs);
        at_.first_link += segment.links;
        at_.first_class += segment.classes;
        in_task += segment.links;
      }
    }
    group.last_task = layout_.tasks.size();
    layout_.groups.push_back(group);
  }

  /// Where the next run of a length goes, in links and in runs.
  struct Cursor {
    EdgeIndex link, run;
  };

  /// Of a row block, by window and length.
  [[nodiscard]] std::vector<Cursor> cursors_of(const BlockedLayout::Group& group, std::size_t b) {
    std::vector<Cursor> cursors(layout_.window_count * lengths);
    const std::size_t blocks = group.last_block - group.first_block;
    for (std::size_t w = 0; w < layout_.window_count; ++w) {
      const std::size_t s = group.first_segment + w * blocks + b - group.first_block;
      Cursor at{layout_.segments[s].first_link, layout_.segments[s].first_run};
      for (std::size_t c = layout_.segments[s].first_class; c < layout_.segments[s + 1].first_class;
           ++c) {
        const BlockedLayout::RunClass& run_class = layout_.classes[c];
        cursors[w * lengths + run_class.length] = at;
        at.link += EdgeIndex{run_class.length} * run_class.runs;
        at.run += run_class.runs;
      }
      std::fill_n(layout_.rows.begin() + static_cast<std::ptrdiff_t>(at.run),
                  padded(at.run) - at.run, std::uint16_t{0});
    }
    return cursors;
  }

  /// Writes a row block's runs to their places, and their values to `values`, if there are any.
  template <bool weighted, class V>
  void fill(const BlockedLayout::Group& group, std::size_t b, V* values) {
    std::vector<Cursor> cursors = cursors_of(group, b);
    const NodeId in_window = layout_.window_nodes - 1;
    const NodeId* const columns = links_.column_indices.data();
    const double* const from = links_.values.data();
    std::uint16_t* const sources = layout_.sources.data();
    std::uint16_t* const rows = layout_.rows.data();
    const NodeId begin = layout_.blocks[b].begin, end = layout_.blocks[b].end;
    for (NodeId i = begin; i < end; ++i) {
      for_each_run(links_, i, window_shift_, [&](NodeId window, std::uint32_t length, EdgeIndex k) {
        Cursor& next = cursors[std::size_t{window} * lengths + length];
        rows[next.run++] = static_cast<std::uint16_t>(i - begin);
        EdgeIndex to = next.link;
        prefetch_for_writing(rows + next.run);
        prefetch_for_writing(sources + to);
        if constexpr (weighted) prefetch_for_writing(values + to);
        next.link += length;
        for (const EdgeIndex last = k + length; k < last; ++k, ++to) {
          sources[to] = static_cast<std::uint16_t>(columns[k] & in_window);
          if constexpr (weighted) values[to] = static_cast<V>(from[k]);
        }
      });
    }
  }

  const CsrMatrix& links_;
  ThreadTeam& team_;
  bool weighted_, narrow_;
  int window_shift_;
  BlockedLayout layout_;
  BlockedLayout::Segment at_{0, 0, 0};  ///< The next one.
};

}  // namespace

BlockedLayout make_blocked_layout(const CsrMatrix& links, bool narrow, const BlockedSizes& sizes,
                                  ThreadTeam& team) {
  return Builder(links, narrow, sizes, team).build();
}

std::uint32_t window_nodes(const BlockedSizes& sizes, bool narrow) {
  constexpr std::uint32_t most = 1 << 16;  // ids are of 16 bits
  const std::size_t of_z = narrow ? sizeof(float) : sizeof(double);
  return std::min(most, static_cast<std::uint32_t>(sizes.window_bytes / of_z));
}

}  // namespace pagerank
