// The third distribution, into the row blocks of a BlockedLayout: by window of sources, then by
// target.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "core/huge_pages.hpp"
#include "core/out_weights.hpp"
#include "core/packed_links.hpp"
#include "core/parallel.hpp"
#include "core/transition_builder.hpp"

namespace pagerank {
namespace {

/// How often links of `runs` neighbouring runs of a length have the source of the one before.
std::size_t count_repeats(const std::uint16_t* sources, std::uint32_t length, std::uint32_t runs) {
  if (length == 1) return 0;
  const std::size_t links = std::size_t{length} * runs;
  std::size_t same = 0;
  for (std::size_t k = 1; k < links; ++k) same += sources[k] == sources[k - 1] ? 1 : 0;
  if (same == 0) return 0;
  for (std::size_t k = length; k < links; k += length) {  // neighbours of different runs
    same -= sources[k] == sources[k - 1] ? 1 : 0;
  }
  return same;
}

}  // namespace

/// Lays out the row blocks of some bins of targets, all of each. The blocks' links of one window
/// after the other are counted by row and then put in their places in a buffer, which a core's
/// cache holds; nothing but the layout is written to memory. One for each thread. For fewer than
/// 2^31 links of blocks: those of long rows lie twice in the buffer.
class TransitionMatrixBuilder::RowBlockSorter {
 public:
  RowBlockSorter(const TransitionMatrixBuilder& builder, Second& second, BlockedLayoutDraft& draft,
                 LinkArena::Heir& sources_heir, LinkArena::Heir& rows_heir)
      : second_(second),
        draft_(draft),
        sources_heir_(sources_heir),
        rows_heir_(rows_heir),
        source_bins_(builder.source_bins_),
        target_bins_(builder.target_bins_),
        shift_(builder.shift_),
        nodes_(builder.shape_.node_count),
        key_mask_((std::uint32_t{1} << shift_) - 1) {}

  /// Row blocks [first, last). Returns how many of their links repeat another.
  EdgeIndex lay_out(std::size_t first, std::size_t last) {
    const std::vector<BlockedLayout::RowBlock>& blocks = draft_.blocks();
    begin_ = blocks[first].begin;
    end_ = blocks[last - 1].end;
    next_.assign(end_ - begin_, 0);
    marks_.assign((end_ - begin_) / mark_bits + 1, 0);
    linked_.resize(end_ - begin_);
    blocks_.clear();
    for (std::size_t b = first; b < last; ++b) blocks_.push_back({.at = b});
    const EdgeIndex first_link = blocks[first].first_link;
    const EdgeIndex last_link =
        last < blocks.size() ? blocks[last].first_link : draft_.arrays().sources.size();
    second_.arena.give_pages(
        sources_heir_,
        std::span(draft_.arrays().sources).subspan(first_link, last_link - first_link));
    EdgeIndex repeats = 0;
    for (std::size_t w = 0; w < draft_.window_count(); ++w) {
      find_links(w);
      count_links();
      std::uint32_t links = 0;
      for (Block& block : blocks_) links = add_segment(block, links);
      place_links(links);
      repeats += move_long_rows(links);
      for (Block& block : blocks_) repeats += store_segment(block);
    }
    for (Block& block : blocks_) store_rows(block);
    return repeats;
  }

 private:
  static constexpr std::uint32_t longest = BlockedLayout::longest_run;
  static constexpr std::uint32_t mark_bits = 64, parts = 4;

  struct Block {
    std::size_t at;                   ///< Which it is.
    std::vector<std::uint16_t> rows;  ///< Of runs, as they will lie.
    BlockedLayoutDraft::BlockShape shape;
    EdgeIndex stored = 0;                 ///< So many links are,
    std::uint32_t begin = 0, count = 0;   ///< and of this window these of the buffer come next.
    std::uint32_t counts[longest + 1]{};  ///< Of this window, runs of each length.
  };
  /// Of a row with more links from a window than a run has. In the buffer they lie side by side,
  /// behind those of all blocks, at first.
  struct LongRow {
    std::uint32_t row, links;
    std::uint32_t full = 0, rest = 0;  ///< Where they belong, in longest runs and in another.
  };
  /// Where the next run of a length goes, in links and in runs.
  struct Places {
    std::uint32_t link[longest + 1]{}, run[longest + 1]{};
  };

  /// Some links of a row each, as they lie in the arena, sources ascending: rows and sources are
  /// counted from these on.
  struct Stretch {
    const std::uint32_t *begin, *end;
    std::uint32_t row, source;
  };

  /// Where the blocks' links from a window lie, those of lower sources first.
  void find_links(std::size_t window) {
    const std::size_t window_begin = window * draft_.window_nodes();
    const std::size_t window_end =
        std::min<std::size_t>(window_begin + draft_.window_nodes(), nodes_);
    const std::uint32_t* const links = second_.arena.links().low;
    stretches_.clear();
    links_ = 0;
    for (std::size_t bin = source_bins_.bin_of(static_cast<NodeId>(window_begin));
         bin < source_bins_.count() && source_bins_.begin(bin) < window_end; ++bin) {
      const std::size_t base = source_bins_.base(bin);
      for (std::size_t target = target_bins_.bin_of(static_cast<NodeId>(begin_));
           target < target_bins_.count() && target_bins_.begin(target) < end_; ++target) {
        const EdgeIndex* const run = second_.table.run(bin, target);
        const std::uint32_t *from = links + run[0], *to = links + run[1];
        const auto begin_of = [&](std::size_t node) {  // of the run's links of that and more
          const auto key = static_cast<std::uint32_t>(node - base);
          return std::partition_point(links + run[0], links + run[1],
                                      [&](std::uint32_t link) { return (link & key_mask_) < key; });
        };
        if (source_bins_.begin(bin) < window_begin) from = begin_of(window_begin);
        if (source_bins_.end(bin) > window_end) to = begin_of(window_end);
        if (from == to) continue;
        links_ += static_cast<std::size_t>(to - from);
        stretches_.push_back({from, to,  // what is added to rows and sources may be below 0
                              static_cast<std::uint32_t>(target_bins_.base(target) - begin_),
                              static_cast<std::uint32_t>(base - window_begin)});
      }
    }
  }

  /// Calls visit(row of the blocks, source in the window) for each of those.
  template <class Visit>
  void for_each_link(Visit visit) const {
    const std::uint32_t key_mask = key_mask_;
    const int shift = shift_;
    for (const Stretch& stretch : stretches_) {
      for (const std::uint32_t* link = stretch.begin; link < stretch.end; ++link) {
        visit(stretch.row + (*link >> shift), stretch.source + (*link & key_mask));
      }
    }
  }

  /// Where few rows have some, finding these takes as long as all else, so they are marked.
  [[nodiscard]] bool are_few() const { return links_ < next_.size() / 2; }

  void count_links() {
    std::uint32_t* const counts = next_.data();
    if (!are_few()) {
      for_each_link([counts](std::uint32_t row, std::uint32_t) { ++counts[row]; });
      return;
    }
    std::uint64_t* const marks = marks_.data();
    for_each_link([counts, marks](std::uint32_t row, std::uint32_t) {
      ++counts[row];
      marks[row / mark_bits] |= std::uint64_t{1} << row % mark_bits;
    });
  }

  /// Lists rows of a block that have links, in linked_. Which do cannot be foretold, so that no
  /// branch asks each.
  [[nodiscard]] std::uint32_t list_linked(std::uint32_t first_row, std::uint32_t rows) {
    std::uint32_t count = 0;
    if (!are_few()) {
      const std::uint32_t* const links = next_.data() + first_row;
      for (std::uint32_t row = 0; row < rows; ++row) {
        linked_[count] = static_cast<std::uint16_t>(row);
        count += links[row] != 0 ? 1 : 0;
      }
      return count;
    }
    const std::uint32_t end = first_row + rows;
    for (std::uint32_t row = first_row; row < end;) {
      const std::uint32_t bit = row % mark_bits, bits = std::min(mark_bits - bit, end - row);
      std::uint64_t& mark = marks_[row / mark_bits];
      std::uint64_t some = mark & ~std::uint64_t{0} >> (mark_bits - bits) << bit;
      mark ^= some;
      for (; some != 0; some &= some - 1) {
        const auto at = static_cast<std::uint32_t>(std::countr_zero(some));
        linked_[count++] = static_cast<std::uint16_t>(row - bit + at - first_row);
      }
      row += bits;
    }
    return count;
  }

  /// Calls visit(part, i) for each i in [0, count), of which each part has a stretch, in order: the
  /// parts' in turns, for one who needs what the last of its part has changed would wait for it.
  template <class Visit>
  static void in_parts(std::uint32_t count, Visit visit) {
    const std::uint32_t of_part = count / parts;
    for (std::uint32_t i = 0; i < of_part; ++i) {
      for (std::uint32_t part = 0; part < parts; ++part) visit(part, part * of_part + i);
    }
    for (std::uint32_t i = parts * of_part; i < count; ++i) visit(parts - 1, i);
  }

  /// Gives the links of a block's rows their places in the buffer, from `begin` on. Returns where
  /// those of the next block begin.
  std::uint32_t add_segment(Block& block, std::uint32_t begin) {
    const BlockedLayout::RowBlock& rows = draft_.blocks()[block.at];
    const auto first_row = static_cast<std::uint32_t>(rows.begin - begin_);
    const std::uint32_t linked = links_ == 0 ? 0 : list_linked(first_row, rows.end - rows.begin);
    std::uint32_t* const next = next_.data() + first_row;
    const std::size_t first_long = long_rows_.size();
    std::array<std::array<std::uint32_t, longest + 1>, parts> counts{};
    in_parts(linked, [&](std::uint32_t part, std::uint32_t i) {
      const std::uint32_t links = next[linked_[i]];
      if (links > longest) {
        long_rows_.push_back({first_row + linked_[i], links});
        counts[part][longest] += links / longest;
      }
      ++counts[part][links > longest ? links % longest : links];
    });

    std::array<Places, parts> places;
    std::uint32_t runs = 0;
    block.begin = begin;
    for (std::uint32_t length = 1; length <= longest; ++length) {
      block.counts[length] = 0;
      for (std::uint32_t part = 0; part < parts; ++part) {
        places[part].link[length] = begin;
        places[part].run[length] = runs;
        begin += length * counts[part][length];
        runs += counts[part][length];
        block.counts[length] += counts[part][length];
      }
    }
    block.shape.add_segment(block.counts);
    block.count = begin - block.begin;
    const std::size_t filled = block.rows.size();
    block.rows.resize(filled + BlockedLayoutDraft::padded(runs));  // those left over are 0
    std::uint16_t* const row_ids = block.rows.data() + filled;
    std::size_t next_long = first_long;
    in_parts(linked, [&](std::uint32_t part, std::uint32_t i) {
      const std::uint16_t row = linked_[i];
      const std::uint32_t links = next[row];
      if (links > longest) {
        split(long_rows_[next_long++], row, places[part], row_ids);
        return;
      }
      row_ids[places[part].run[links]++] = row;
      next[row] = places[part].link[links];
      places[part].link[links] += links;
    });
    return begin;
  }

  /// Gives a long row's runs their places.
  static void split(LongRow& row, std::uint16_t id, Places& places, std::uint16_t* row_ids) {
    const std::uint32_t full = row.links / longest, rest = row.links % longest;
    row.full = places.link[longest];
    places.link[longest] += full * longest;
    std::fill_n(row_ids + places.run[longest], full, id);
    places.run[longest] += full;
    if (rest == 0) return;
    row.rest = places.link[rest];
    places.link[rest] += rest;
    row_ids[places.run[rest]++] = id;
  }

  /// Links to the places that they were given in the buffer, of which blocks have so many. No row
  /// has links then.
  void place_links(std::uint32_t in_blocks) {
    std::uint32_t end = in_blocks;
    for (const LongRow& row : long_rows_) {
      next_[row.row] = end;
      end += row.links;
    }
    if (sources_.size() < end) sources_.resize(end);
    std::uint32_t* const next = next_.data();
    std::uint16_t* const sources = sources_.data();
    for_each_link([next, sources](std::uint32_t row, std::uint32_t source) {
      sources[next[row]++] = static_cast<std::uint16_t>(source);
    });
    if (are_few()) {
      for_each_link([next](std::uint32_t row, std::uint32_t) { next[row] = 0; });
    } else {
      std::fill(next_.begin(), next_.end(), 0);
    }
  }

  /// Moves long rows' links, which begin behind those of blocks, to where they belong. Returns how
  /// many repeat the last of the run before.
  EdgeIndex move_long_rows(std::uint32_t in_blocks) {
    EdgeIndex repeats = 0;
    const std::uint16_t* links = sources_.data() + in_blocks;
    for (const LongRow& row : long_rows_) {
      for (std::uint32_t k = longest; k < row.links; k += longest) {
        repeats += links[k] == links[k - 1] ? 1 : 0;
      }
      const std::uint32_t rest = row.links % longest;
      std::copy_n(links, row.links - rest, sources_.data() + row.full);
      std::copy_n(links + row.links - rest, rest, sources_.data() + row.rest);
      links += row.links;
    }
    long_rows_.clear();
    return repeats;
  }

  /// From the buffer to the layout. Returns how many repeat another of their run.
  EdgeIndex store_segment(Block& block) {
    const std::uint16_t* from = sources_.data() + block.begin;
    std::copy_n(
        from, block.count,
        draft_.arrays().sources.data() + draft_.blocks()[block.at].first_link + block.stored);
    block.stored += block.count;
    EdgeIndex repeats = 0;
    for (std::uint32_t length = 1; length <= longest; ++length) {
      repeats += count_repeats(from, length, block.counts[length]);
      from += std::size_t{length} * block.counts[length];
    }
    return repeats;
  }

  void store_rows(Block& block) {
    const std::size_t first = draft_.place(block.at, std::move(block.shape));
    const std::span to = std::span(draft_.arrays().rows).subspan(first, block.rows.size());
    second_.arena.give_pages(rows_heir_, to);
    std::copy(block.rows.begin(), block.rows.end(), to.begin());
  }

  Second& second_;
  BlockedLayoutDraft& draft_;
  LinkArena::Heir& sources_heir_;
  LinkArena::Heir& rows_heir_;
  const NodeBins &source_bins_, &target_bins_;
  int shift_;
  std::size_t nodes_;
  std::uint32_t key_mask_;

  std::size_t begin_ = 0, end_ = 0;  ///< Rows of the blocks.
  std::vector<Block> blocks_;
  std::vector<Stretch> stretches_;      ///< Links of the window,
  std::size_t links_ = 0;               ///< and so many they are.
  std::vector<std::uint32_t> next_;     ///< A row: its links of the window, then where they go.
  std::vector<std::uint64_t> marks_;    ///< Rows that have some, where these are few.
  std::vector<std::uint16_t> linked_;   ///< Rows of a block that have some.
  std::vector<LongRow> long_rows_;      ///< Of the window, ascending.
  std::vector<std::uint16_t> sources_;  ///< The buffer: of the window's links.
};

void TransitionMatrixBuilder::cut_blocks(const BinsOfTargets& bins, int threads,
                                         BlockedLayoutDraft& draft) const {
  const BlockedSizes& sizes = draft.arrays().sizes;
  std::size_t least = sizes.block_rows;
  while (least / 2 >= sizes.least_rows) least /= 2;
  // Links before each `least` rows of those bins that may be cut.
  std::vector<std::vector<EdgeIndex>> before(target_bins_.count());
  parallel_for(target_bins_.count(), threads, [&](std::size_t bin) {
    const EdgeIndex links = bins.begins[bin + 1] - bins.begins[bin];
    const NodeId nodes = target_bins_.size(bin);
    const bool has_many = links > sizes.block_links && nodes > least;
    if (!has_many && nodes <= sizes.block_rows) return;
    std::vector<EdgeIndex> counts(nodes);
    for_each_link_to(bins.second, bin, [&](std::uint32_t row, NodeId) { ++counts[row]; });
    EdgeIndex sum = bins.begins[bin];
    for (std::size_t row = 0; row < counts.size(); ++row) {
      if (row % least == 0) before[bin].push_back(sum);
      sum += counts[row];
    }
  });
  draft.cut_blocks([&](std::size_t row) {
    if (row == shape_.node_count) return bins.links();
    const std::size_t bin = target_bins_.bin_of(static_cast<NodeId>(row));
    const std::size_t in_bin = row - target_bins_.begin(bin);
    return in_bin == 0 ? bins.begins[bin] : before[bin][in_bin / least];
  });
}

/// The third distribution.
BlockedMatrix TransitionMatrixBuilder::lay_out(BinsOfTargets& bins, const LayoutWish& wish,
                                               int threads, Draft& matrix) {
  const NodeId n = shape_.node_count;
  const EdgeIndex links = bins.links();
  const std::size_t out_weights =
      std::size_t{n} * (OutWeights::worth_compacting(n, links) ? 4 : sizeof(double));
  BlockedLayoutDraft draft(
      {.nodes = n, .links = links, .weighted = false}, wish.narrow,
      wish.beside(out_weights + matrix.dangling.size() * sizeof(NodeId), n).sizes);
  cut_blocks(bins, threads, draft);

  // Row blocks are of whole bins, or bins of whole row blocks: these are laid out together.
  const std::vector<BlockedLayout::RowBlock>& blocks = draft.blocks();
  std::vector<std::size_t> begins;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const NodeId row = blocks[b].begin;
    if (target_bins_.begin(target_bins_.bin_of(row)) == row) begins.push_back(b);
  }
  begins.push_back(blocks.size());
  LinkArena::Heir sources_heir{std::span(draft.arrays().sources)};
  LinkArena::Heir rows_heir{std::span(draft.arrays().rows)};
  std::atomic<std::size_t> next = 0;
  std::atomic<EdgeIndex> repeats = 0;
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    RowBlockSorter sorter(*this, bins.second, draft, sources_heir, rows_heir);
    for (std::size_t i = 0; (i = next++) + 1 < begins.size();) {
      repeats += sorter.lay_out(begins[i], begins[i + 1]);
      const std::size_t end = blocks[begins[i + 1] - 1].end;
      for (std::size_t bin = target_bins_.bin_of(blocks[begins[i]].begin);
           bin < target_bins_.count() && target_bins_.begin(bin) < end; ++bin) {
        bins.finish(bin);
      }
    }
  });
  BlockedMatrix found{.in_links = draft.finish(),
                      .inverse_out_weight = std::move(matrix.inverse_out_weight),
                      .dangling = std::move(matrix.dangling),
                      .distinct_links = links - repeats,
                      .partial_sums = {}};
  // Memory for partial sums, as much as ids of the links would have left them; what the program
  // will use of that, with sums of doubles, gets pages that are at hand.
  const BlockedLayout& layout = found.in_links;
  const std::size_t bytes =
      std::max(layout.sizes.group_bytes, layout.bytes_of_partials(wish.narrow));
  Array<NodeId> memory((bytes + ScratchMemory::line) / sizeof(NodeId) + 1);
  advise_huge_pages(std::span(memory));
  LinkArena::Heir memory_heir{std::span(memory)};
  const std::size_t used = std::min<std::size_t>(
      memory.size(), layout.blocks.back().last_run * sizeof(double) / sizeof(NodeId));
  bins.second.arena.give_pages(memory_heir, std::span(memory).first(used));
  found.partial_sums = ScratchMemory(std::move(memory));
  arena_.reset();
  return found;
}

}  // namespace pagerank
