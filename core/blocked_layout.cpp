#include "core/blocked_layout.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "core/huge_pages.hpp"

namespace pagerank {
namespace {

/// Runs are put in order of these keys: those of a single link by where in the window it comes
/// from, so that what they gather lies in the smallest cache, then the longer ones by length.
constexpr std::uint32_t parts = 16;
constexpr std::uint32_t keys = parts + BlockedLayout::longest_run + 1;

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

class Builder {
 public:
  Builder(const TransitionMatrix& matrix, bool narrow, const BlockedSizes& sizes, ThreadTeam& team)
      : matrix_(matrix),
        links_(matrix.in_links),
        team_(team),
        narrow_(narrow),
        window_shift_(std::countr_zero(sizes.window_nodes)) {
    layout_.node_count = matrix.node_count();
    layout_.sizes = sizes;
    layout_.window_count =
        (std::size_t{layout_.node_count} + sizes.window_nodes - 1) / sizes.window_nodes;
  }

  BlockedLayout build() {
    cut_blocks();
    std::vector<BlockShape> shapes(layout_.blocks.size());
    team_.for_each(shapes.size(), [&](std::size_t b) { shapes[b] = measure(b); });
    cut_groups(shapes);
    const EdgeIndex links = matrix_.link_count();
    layout_.sources.resize(links);
    layout_.rows.resize(layout_.segments.back().first_run);
    layout_.narrow_values.resize(matrix_.weighted() && narrow_ ? links : 0);
    layout_.values.resize(matrix_.weighted() && !narrow_ ? links : 0);
    advise_huge_pages(std::span(layout_.sources));
    advise_huge_pages(std::span(layout_.rows));
    advise_huge_pages(std::span(layout_.narrow_values));
    advise_huge_pages(std::span(layout_.values));
    for (const BlockedLayout::Group& group : layout_.groups) {
      team_.for_each(group.last_block - group.first_block,
                     [&](std::size_t b) { fill(group, group.first_block + b); });
    }
    return std::move(layout_);
  }

 private:
  struct SegmentShape {
    EdgeIndex links = 0, runs = 0;
    std::size_t classes = 0;
  };
  struct BlockShape {
    std::vector<SegmentShape> windows;
    std::vector<BlockedLayout::RunClass> classes;
    EdgeIndex runs = 0;
  };

  [[nodiscard]] std::size_t part_of(NodeId source) const {
    return std::size_t{source & (layout_.sizes.window_nodes - 1)} * parts /
           layout_.sizes.window_nodes;
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
    std::vector<std::uint32_t> counts(layout_.window_count * keys);
    for (NodeId i = layout_.blocks[b].begin; i < layout_.blocks[b].end; ++i) {
      for_each_run(links_, i, window_shift_, [&](NodeId window, std::uint32_t length, EdgeIndex k) {
        const std::size_t key = length == 1 ? part_of(links_.column_indices[k]) : parts + length;
        ++counts[std::size_t{window} * keys + key];
      });
    }
    BlockShape shape;
    shape.windows.resize(layout_.window_count);
    for (std::size_t w = 0; w < layout_.window_count; ++w) {
      SegmentShape& segment = shape.windows[w];
      const std::span<std::uint32_t> of_window(counts.data() + w * keys, keys);
      const std::span<std::uint32_t> singles = of_window.first(parts);
      const std::uint32_t all_singles = std::accumulate(singles.begin(), singles.end(), 0U);
      if (all_singles >= layout_.sizes.worth_parting) {
        for (const std::uint32_t runs : singles) shape.classes.push_back({1, runs});
        segment.classes += parts;
        segment.links += all_singles;
        segment.runs += all_singles;
      } else {
        of_window[parts + 1] = all_singles;
      }
      for (std::uint32_t length = 1; length <= BlockedLayout::longest_run; ++length) {
        const std::uint32_t runs = of_window[parts + length];
        if (runs == 0) continue;
        shape.classes.push_back({length, runs});
        segment.links += EdgeIndex{length} * runs;
        segment.runs += runs;
        ++segment.classes;
      }
      shape.runs += segment.runs;
    }
    return shape;
  }

  void cut_groups(const std::vector<BlockShape>& shapes) {
    BlockedLayout::Segment at{0, 0, 0};
    EdgeIndex in_task = 0;
    for (std::size_t first = 0; first < shapes.size();) {
      std::size_t last = first;
      EdgeIndex runs = 0;
      do runs += shapes[last++].runs;
      while (last < shapes.size() && runs + shapes[last].runs <= layout_.sizes.group_runs);
      layout_.largest_group = std::max(layout_.largest_group, runs);
      BlockedLayout::Group group{first, last, layout_.segments.size(), layout_.tasks.size(), 0};
      std::vector<std::size_t> class_at(last - first);
      in_task = layout_.sizes.task_links;  // the group begins a task
      for (std::size_t w = 0; w < layout_.window_count; ++w) {
        for (std::size_t b = first; b < last; ++b) {
          if (in_task >= layout_.sizes.task_links) {
            layout_.tasks.push_back(layout_.segments.size());
            in_task = 0;
          }
          const SegmentShape& segment = shapes[b].windows[w];
          layout_.segments.push_back(at);
          const auto classes =
              shapes[b].classes.begin() + static_cast<std::ptrdiff_t>(class_at[b - first]);
          layout_.classes.insert(layout_.classes.end(), classes,
                                 classes + static_cast<std::ptrdiff_t>(segment.classes));
          class_at[b - first] += segment.classes;
          at.first_link += segment.links;
          at.first_run += segment.runs;
          at.first_class += segment.classes;
          in_task += segment.links;
        }
      }
      group.last_task = layout_.tasks.size();
      layout_.groups.push_back(group);
      first = last;
    }
    layout_.segments.push_back(at);
    layout_.tasks.push_back(layout_.segments.size() - 1);
  }

  /// Writes a row block's runs to their places.
  void fill(const BlockedLayout::Group& group, std::size_t b) {
    struct Cursor {
      EdgeIndex link, run;
    };
    std::vector<Cursor> cursors(layout_.window_count * keys);
    std::vector<std::uint8_t> parted(layout_.window_count);
    const std::size_t blocks = group.last_block - group.first_block;
    for (std::size_t w = 0; w < layout_.window_count; ++w) {
      const std::size_t s = group.first_segment + w * blocks + b - group.first_block;
      Cursor at{layout_.segments[s].first_link, layout_.segments[s].first_run};
      const std::size_t first = layout_.segments[s].first_class;
      const std::size_t last = layout_.segments[s + 1].first_class;
      parted[w] = last - first > 1 && layout_.classes[first + 1].length == 1;
      for (std::size_t c = first; c < last; ++c) {
        const BlockedLayout::RunClass& run_class = layout_.classes[c];
        const std::size_t key =
            run_class.length == 1 && parted[w] ? c - first : parts + run_class.length;
        cursors[w * keys + key] = at;
        at.link += EdgeIndex{run_class.length} * run_class.runs;
        at.run += run_class.runs;
      }
    }
    const NodeId in_window = layout_.sizes.window_nodes - 1;
    for (NodeId i = layout_.blocks[b].begin; i < layout_.blocks[b].end; ++i) {
      for_each_run(links_, i, window_shift_, [&](NodeId window, std::uint32_t length, EdgeIndex k) {
        const std::size_t key =
            length == 1 && parted[window] != 0 ? part_of(links_.column_indices[k]) : parts + length;
        Cursor& at = cursors[std::size_t{window} * keys + key];
        layout_.rows[at.run++] = static_cast<std::uint16_t>(i - layout_.blocks[b].begin);
        for (const EdgeIndex end = k + length; k < end; ++k, ++at.link) {
          layout_.sources[at.link] =
              static_cast<std::uint16_t>(links_.column_indices[k] & in_window);
          if (!matrix_.weighted()) continue;
          if (narrow_) {
            layout_.narrow_values[at.link] = static_cast<float>(links_.values[k]);
          } else {
            layout_.values[at.link] = links_.values[k];
          }
        }
      });
    }
  }

  const TransitionMatrix& matrix_;
  const CsrMatrix& links_;
  ThreadTeam& team_;
  bool narrow_;
  int window_shift_;
  BlockedLayout layout_;
};

}  // namespace

BlockedLayout make_blocked_layout(const TransitionMatrix& matrix, bool narrow,
                                  const BlockedSizes& sizes, ThreadTeam& team) {
  return Builder(matrix, narrow, sizes, team).build();
}

}  // namespace pagerank
