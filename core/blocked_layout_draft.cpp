#include "core/blocked_layout_draft.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/scratch_memory.hpp"

namespace pagerank {
namespace {

/// Of those that are held at a time: as many as the links' ids take, but of graphs with few links a
/// node less, so that a whole run takes no more than 2.5 times the matrix, or as near to it as a
/// few groups come.
std::size_t bytes_of_partial_sums(const BlockedLayoutDraft::Graph& graph, bool narrow,
                                  const BlockedSizes& sizes) {
  const std::size_t ids = graph.links * sizeof(NodeId);
  if (graph.weighted) return ids;  // beside weights they are little
  const std::size_t matrix = ids + graph.nodes * sizeof(EdgeIndex);
  // The program, beside matrices that it does not outweigh; segments and what is left over of
  // pages.
  const std::size_t program = std::min(matrix / 10, std::size_t{12} << 20), rest = matrix / 20;
  const std::size_t most = matrix * 5 / 2 - program - rest;
  const std::size_t layout = 2 * graph.links * sizeof(std::uint16_t);
  const std::size_t others = layout + graph.nodes * sizes.bytes_a_node;
  return std::clamp(most - std::min(most, others), ids / (narrow ? 4 : 2), ids);
}

}  // namespace

BlockedLayoutDraft::BlockedLayoutDraft(const Graph& graph, bool narrow, const BlockedSizes& sizes)
    : graph_(graph), narrow_(narrow) {
  layout_.node_count = graph.nodes;
  layout_.sizes = sizes;
  if (sizes.group_bytes == 0) {
    // A line less: the ids begin anywhere, what takes their place at a line.
    constexpr std::size_t line = ScratchMemory::line;
    layout_.sizes.group_bytes = std::max(line, bytes_of_partial_sums(graph, narrow, sizes)) - line;
  }
  layout_.window_nodes = pagerank::window_nodes(sizes, narrow);
  layout_.window_count =
      (std::size_t{graph.nodes} + layout_.window_nodes - 1) / layout_.window_nodes;
}

void BlockedLayoutDraft::make_arrays() {
  shapes_.resize(layout_.blocks.size());
  layout_.sources.resize(graph_.links);
  layout_.narrow_values.resize(graph_.weighted && narrow_ ? graph_.links : 0);
  layout_.values.resize(graph_.weighted && !narrow_ ? graph_.links : 0);
  // As many runs as there can be: addresses, of which some are used, without a gap.
  const std::size_t segments = layout_.blocks.size() * layout_.window_count;
  layout_.rows.resize(graph_.links +
                      std::min<EdgeIndex>(segments, graph_.links) * (BlockedLayout::padded_to - 1));
  advise_huge_pages(std::span(layout_.sources));
  advise_huge_pages(std::span(layout_.rows));
  advise_huge_pages(std::span(layout_.narrow_values));
  advise_huge_pages(std::span(layout_.values));
}

void BlockedLayoutDraft::BlockShape::add_segment(const std::uint32_t* counts) {
  Segment segment;
  for (std::uint32_t length = 1; length <= BlockedLayout::longest_run; ++length) {
    if (counts[length] == 0) continue;
    classes_.push_back({length, counts[length]});
    segment.links += EdgeIndex{length} * counts[length];
    segment.runs += counts[length];
    ++segment.classes;
  }
  segments_.push_back(segment);
  runs_ += padded(segment.runs);
}

EdgeIndex BlockedLayoutDraft::place(std::size_t block, BlockShape shape) {
  const EdgeIndex first_row = next_row_.fetch_add(shape.runs_);
  layout_.blocks[block].first_row = first_row;
  shapes_[block] = std::move(shape);
  return first_row;
}

BlockedLayout BlockedLayoutDraft::finish() {
  layout_.rows.resize(next_row_);
  add_segments();
  add_groups();
  return std::move(layout_);
}

void BlockedLayoutDraft::add_segments() {
  std::size_t classes = 0;
  for (const BlockShape& shape : shapes_) classes += shape.classes_.size();
  layout_.classes.reserve(classes);
  layout_.segments.reserve(shapes_.size() * layout_.window_count + 1);
  BlockedLayout::Segment at{0, 0, 0};  // the next one
  for (std::size_t b = 0; b < shapes_.size(); ++b) {
    const BlockShape& shape = shapes_[b];
    layout_.blocks[b].first_run = at.first_run;
    for (const BlockShape::Segment& segment : shape.segments_) {
      layout_.segments.push_back(at);
      at.first_link += segment.links;
      at.first_run += padded(segment.runs);
      at.first_class += segment.classes;
    }
    layout_.blocks[b].last_run = at.first_run;
    layout_.largest_block = std::max(layout_.largest_block, shape.runs_);
    layout_.classes.insert(layout_.classes.end(), shape.classes_.begin(), shape.classes_.end());
  }
  layout_.segments.push_back(at);
}

void BlockedLayoutDraft::add_groups() {
  const EdgeIndex most = layout_.sizes.group_bytes / (narrow_ ? sizeof(float) : sizeof(double));
  const auto& blocks = layout_.blocks;
  for (std::size_t first = 0, last = 0; first < blocks.size(); first = last) {
    last = first + 1;
    const EdgeIndex begin = blocks[first].first_run;
    while (last < blocks.size() && blocks[last].last_run - begin <= most) ++last;
    layout_.largest_group = std::max(layout_.largest_group, blocks[last - 1].last_run - begin);
    add_tasks(first, last);
  }
}

/// Those of a group of row blocks [first, last).
void BlockedLayoutDraft::add_tasks(std::size_t first, std::size_t last) {
  BlockedLayout::Group group{first, last, layout_.tasks.size(), 0};
  std::size_t pair = 0;
  EdgeIndex in_task = layout_.sizes.task_links;  // the group begins a task
  for (std::size_t w = 0; w < layout_.window_count; ++w) {
    for (std::size_t b = first; b < last; ++b, ++pair) {
      if (in_task >= layout_.sizes.task_links) {
        layout_.tasks.push_back(pair);
        in_task = 0;
      }
      in_task += shapes_[b].segments_[w].links;
    }
  }
  group.last_task = layout_.tasks.size();
  layout_.tasks.push_back(pair);
  layout_.groups.push_back(group);
}

}  // namespace pagerank
