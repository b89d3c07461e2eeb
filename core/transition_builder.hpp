#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/array.hpp"
#include "core/blocked_layout_draft.hpp"
#include "core/blocked_matrix.hpp"
#include "core/cpu_layout.hpp"
#include "core/link_arena.hpp"
#include "core/node_bins.hpp"
#include "core/page_array.hpp"
#include "core/part_counts.hpp"
#include "core/transition_matrix.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Builds a TransitionMatrix from entries that come in pieces, from several threads, as they are
/// read: no edge list is ever held.
///
/// Three stable distributions, each a counting sort of pieces that fit the cache:
/// 1. add() sorts a piece by ranges of sources ("bins", smaller where a sample of the first piece
///    has many links) and keeps that;
/// 2. build() gathers each bin of sources from all pieces, some of its sources at a time if it has
///    many links, and sorts it by source, which gives the out-weights, and then by bins of targets;
/// 3. it gathers each bin of targets, which is in order of sources now, and sorts it by target into
///    the rows of the matrix; or build_for() does, window by window of sources, into the row blocks
///    of a BlockedLayout: less work than sorting rows and laying these out.
///
/// Bins that follow each other make up a part, whose links lie together. As soon as a distribution
/// has moved all of a part, the next one's links, and in the end the matrix, get its memory.
///
/// Stability makes the result independent of who did what, and of the bins, which hang on the piece
/// that comes first: the same bits for any number of threads, as long as the pieces are the same
/// links in the same order.
class TransitionMatrixBuilder {
 public:
  struct Shape {
    NodeId node_count = 0;
    bool weighted = false;
    bool undirected = false;  ///< As in EdgeList.

    /// Any number may come. So many get their memory side by side, to be used again, in addresses
    /// for about three times as many links, if those are to be had.
    EdgeIndex expected_entries = 0;
    /// Nothing but a claim bears that out: what is taken of the memory follows what comes.
    bool only_claimed = false;
    [[nodiscard]] EdgeIndex expected_links() const {
      return expected_entries * (undirected ? 2 : 1);
    }
  };

  explicit TransitionMatrixBuilder(const Shape& shape);

  /// Bytes of the tables that building a graph of that shape takes beside its links: those of
  /// each piece, and of build().
  [[nodiscard]] static std::uint64_t bytes_of_piece_table(const Shape& shape);
  [[nodiscard]] static std::uint64_t bytes_of_build_tables(const Shape& shape);

  /// Adds entries, the `piece`th of the graph: pieces count from 0 in the order of the entries, but
  /// may come in any order, from several threads at once, and some may be missing. Spans of the
  /// same length (no weights if the graph has none), below 2^31; ids below node_count; weights
  /// finite and >= 0.
  void add(std::size_t piece, std::span<const NodeId> sources, std::span<const NodeId> targets,
           std::span<const double> weights);

  /// The directed links of all that was added.
  [[nodiscard]] EdgeIndex link_count() const { return links_; }

  /// The matrix of all that was added, which is used up.
  [[nodiscard]] TransitionMatrix build(int threads = 0);

  /// The same, laid out as make_blocked_layout() would if that layout is wished for and links have
  /// no weights.
  [[nodiscard]] std::variant<TransitionMatrix, BlockedMatrix> build_for(const LayoutWish& wish,
                                                                        int threads = 0);

 private:
  // Of the first distribution a link is the source's place in its bin, above `node_bits_` bits of
  // target; in 4 bytes where that fits, else in 6. Of the second, whose runs say the source's bin,
  // the places of target and source in theirs, `shift_` bits each. Places are counted as in a bin
  // that was not halved.
  struct LinkArrays {
    PageArray<std::uint32_t> low;
    PageArray<std::uint16_t> high;
    PageArray<double> weights;

    void resize(EdgeIndex links, bool wide, bool weighted);
    /// Those from this one on.
    [[nodiscard]] Links from(EdgeIndex link) {
      return {.low = low.data() + link,
              .high = high.empty() ? nullptr : high.data() + link,
              .weights = weights.empty() ? nullptr : weights.data() + link};
    }
  };
  /// Which part each bin belongs to.
  struct Parts {
    std::vector<std::uint8_t> of_bin;
    std::size_t count = 1;
  };

  struct Piece {
    Links links;
    std::vector<std::uint32_t> bin_begin;  ///< bins + 1, counted within the piece,
    std::vector<EdgeIndex> part_offset;    ///< and what of each part has to be added to that.
    PageArray<std::uint32_t> own_low;      ///< Where `links` lie if the arena was full.
    PageArray<std::uint16_t> own_high;
    PageArray<double> own_weights;

    /// Where the links of a bin begin.
    [[nodiscard]] EdgeIndex begin(std::size_t bin, const Parts& parts) const {
      return part_offset[parts.of_bin[bin]] + bin_begin[bin];
    }
    [[nodiscard]] EdgeIndex size(std::size_t bin) const {
      return bin_begin[bin + 1] - bin_begin[bin];
    }
  };

  /// The matrix while its arrays are filled.
  struct Draft {
    struct {
      Array<EdgeIndex> row_offsets;
      Array<NodeId> column_indices;
      Array<double> values;
    } in_links;
    Array<double> inverse_out_weight;
    std::vector<NodeId> dangling;
    EdgeIndex distinct_links = 0;

    [[nodiscard]] TransitionMatrix matrix();
  };

  /// Where links of the second distribution lie.
  class Table {
   public:
    Table(std::size_t source_bins, const Parts& target_parts)
        : part_of_bin_(target_parts.of_bin),
          stride_(target_parts.of_bin.size() + target_parts.count),
          begins_(source_bins * stride_) {}
    /// Where links of two bins begin; the next element is where they end. (Each part has an element
    /// more than bins, for its last bin's end is not where the next part begins.)
    [[nodiscard]] EdgeIndex* run(std::size_t source_bin, std::size_t target_bin) {
      return begins_.data() + index(source_bin, target_bin);
    }
    [[nodiscard]] const EdgeIndex* run(std::size_t source_bin, std::size_t target_bin) const {
      return begins_.data() + index(source_bin, target_bin);
    }

   private:
    [[nodiscard]] std::size_t index(std::size_t source_bin, std::size_t target_bin) const {
      return source_bin * stride_ + target_bin + part_of_bin_[target_bin];
    }
    std::vector<std::uint8_t> part_of_bin_;
    std::size_t stride_;
    std::vector<EdgeIndex> begins_;
  };

  /// The second distribution.
  struct Second {
    LinkArena& arena;
    std::vector<std::uint8_t> part_of_bin;  ///< Of targets.
    std::vector<LinkArena::Lot> lots;       ///< Of each part.
    Table table;
  };

  /// The links in bins of targets: what the third distribution begins with.
  struct BinsOfTargets {
    std::unique_ptr<LinkArena> own_arena;  ///< Null if they are in the builder's.
    Second second;
    PartCounts left;                ///< Of bins.
    std::vector<EdgeIndex> begins;  ///< bins + 1

    [[nodiscard]] EdgeIndex links() const { return begins.back(); }
    /// A bin is done.
    void finish(std::size_t bin) {
      const std::size_t part = second.part_of_bin[bin];
      if (left.count_down(part)) second.arena.free(second.lots[part]);
    }
  };

  /// What closes the gaps that weighted links of the same nodes leave in the matrix, each bin of
  /// rows as soon as it and all before it are sorted.
  struct Gaps {
    explicit Gaps(const std::vector<EdgeIndex>& bin_begins)
        : begins(bin_begins), sorted(begins.size() - 1, unknown) {}
    static constexpr EdgeIndex unknown = std::numeric_limits<EdgeIndex>::max();
    const std::vector<EdgeIndex>& begins;  ///< bins + 1
    std::mutex mutex;                      ///< Guards what follows.
    std::vector<EdgeIndex> sorted;         ///< Links of each bin, once it is.
    std::size_t next = 0;                  ///< The first bin that does not lie where it belongs,
    EdgeIndex end = 0;                     ///< which is here.
    bool closing = false;                  ///< A thread is at it.
  };

  static int node_bits_of(const Shape& shape);
  static int shift_of(const Shape& shape);
  [[nodiscard]] bool wide() const { return shift_ + node_bits_ > 32; }
  static std::size_t most_parts_of(EdgeIndex links, bool wide);
  [[nodiscard]] Parts cut_into_parts(const std::vector<std::uint32_t>& sample,
                                     EdgeIndex links) const;
  void look_at(std::span<const NodeId> sources, std::span<const NodeId> targets);
  [[nodiscard]] bool take_memory(Piece& piece);
  void require_addresses_for_matrix(EdgeIndex links) const;
  [[nodiscard]] std::unique_ptr<LinkArena> arena_for(EdgeIndex links, Parts& parts) const;
  void take_own_memory(Piece& piece, std::uint32_t links) const;
  template <bool wide, bool weighted>
  void add_links(Piece& piece, std::span<const NodeId> sources, std::span<const NodeId> targets,
                 std::span<const double> weights);
  template <bool wide, class Visit>
  void for_each_link_of(std::size_t bin, Visit visit) const;
  template <bool wide, bool weighted>
  void distribute_by_target(std::size_t bin, EdgeIndex most, const Links& scratch, Draft& matrix,
                            std::vector<NodeId>& dangling, Second& second);
  template <bool wide, bool weighted>
  bool distribute_hub(std::size_t bin, std::size_t source, EdgeIndex most, const Links& scratch,
                      const Links& to, std::vector<EdgeIndex>& next_of_target_bin);
  template <bool wide, bool weighted>
  void hand_on(const Links& links, EdgeIndex count, const Links& to,
               std::vector<EdgeIndex>& next_of_target_bin);
  template <bool wide, bool weighted>
  BinsOfTargets distribute(int threads, Draft& matrix);
  template <bool weighted>
  EdgeIndex sort_rows(std::size_t bin, EdgeIndex begin, const Second& second, Draft& matrix);
  template <bool weighted>
  void sort_all_rows(BinsOfTargets& bins, int threads, Draft& matrix);
  void close_gaps(Gaps& gaps, std::size_t bin, EdgeIndex distinct, Draft& matrix) const;

  class RowBlockSorter;
  /// Calls visit(row in the bin, source) for each link of a bin of targets, sources ascending.
  template <class Visit>
  void for_each_link_to(const Second& second, std::size_t bin, Visit visit) const {
    const std::uint32_t key_mask = (std::uint32_t{1} << shift_) - 1;
    const std::uint32_t first_row = target_bins_.begin(bin) - target_bins_.base(bin);
    const std::uint32_t* const links = second.arena.links().low;
    for (std::size_t source_bin = 0; source_bin < source_bins_.count(); ++source_bin) {
      const EdgeIndex* const run = second.table.run(source_bin, bin);
      const NodeId base = source_bins_.base(source_bin);
      for (EdgeIndex l = run[0]; l < run[1]; ++l) {
        visit((links[l] >> shift_) - first_row, base + (links[l] & key_mask));
      }
    }
  }
  [[nodiscard]] CpuLayout choose(const BinsOfTargets& bins, const LayoutWish& wish,
                                 int threads) const;
  void sample_bin(const BinsOfTargets& bins, std::size_t bin, LinkSample& sample) const;
  void cut_blocks(const BinsOfTargets& bins, int threads, BlockedLayoutDraft& draft) const;
  BlockedMatrix lay_out(BinsOfTargets& bins, const LayoutWish& wish, int threads, Draft& matrix);

  Shape shape_;
  int node_bits_ = 0;
  int shift_ = 0;                     ///< A bin has 2^shift_ nodes at most.
  std::optional<LinkArena> arena_;    ///< Null if there is no memory for what was expected.
  std::vector<LinkArena::Lot> lots_;  ///< Of parts of sources, in the arena.
  std::once_flag looked_;             ///< At the first piece, for what follows:
  NodeBins source_bins_, target_bins_;
  Parts source_parts_;
  std::vector<std::uint32_t> target_sample_;  ///< Links to each bin, of some.
  std::atomic<EdgeIndex> links_ = 0;          ///< In all pieces.
  std::mutex mutex_;                          ///< Guards the vector, not its elements.
  std::vector<Piece> pieces_;
};

}  // namespace pagerank
