#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "core/page_array.hpp"
#include "core/transition_matrix.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Builds a TransitionMatrix from entries that come in pieces, from several threads, as they are
/// read: no edge list is ever held.
///
/// Three stable distributions, each a counting sort of pieces that fit the cache:
/// 1. add() sorts a piece by ranges of sources ("bins") and keeps that;
/// 2. build() gathers each bin of sources from all pieces, some of its sources at a time if it has
///    many links, and sorts it by source, which gives the out-weights, and then by bins of targets;
/// 3. it gathers each bin of targets, which is in order of sources now, and sorts it by target into
///    the rows of the matrix. The memory of the first distribution becomes the matrix.
///
/// Stability makes the result independent of who did what: the same bits for any number of
/// threads, as long as the pieces are the same links in the same order.
class TransitionMatrixBuilder {
 public:
  struct Shape {
    NodeId node_count = 0;
    bool weighted = false;
    bool undirected = false;  ///< As in EdgeList.

    /// So many entries get their memory at once, which is then used again; any number may come.
    EdgeIndex expected_entries = 0;
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

 private:
  /// Links of a bin, packed. Of the first distribution: the source's place in its bin, above
  /// `node_bits_` bits of target; in 4 bytes where that fits, else with 2 more in an array of their
  /// own. Of the second, whose runs say the source's bin: the places of target and source in
  /// theirs, `shift_` bits each.
  struct Links {
    std::uint32_t* low = nullptr;
    std::uint16_t* high = nullptr;
    double* weights = nullptr;
  };
  struct LinkArrays {
    Array<std::uint32_t> low;
    Array<std::uint16_t> high;
    Array<double> weights;

    void resize(EdgeIndex links, bool wide, bool weighted);
    [[nodiscard]] Links from(EdgeIndex first);
    [[nodiscard]] Links all() {
      return {.low = low.data(), .high = high.data(), .weights = weights.data()};
    }
  };
  struct Piece {
    Links links;
    std::vector<std::uint32_t> bin_begin;  ///< bins + 1
    PageArray<std::uint32_t> own_low;      ///< Where `links` lie if first_ was full.
    PageArray<std::uint16_t> own_high;
    PageArray<double> own_weights;
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
  };

  /// Where links of the second distribution begin: [source bin][target bin].
  using Table = std::vector<EdgeIndex>;

  static int node_bits_of(const Shape& shape);
  static int shift_of(const Shape& shape);
  static std::size_t bins_of(const Shape& shape, int shift) {
    return ((std::max<std::size_t>(shape.node_count, 1) - 1) >> shift) + 1;
  }
  [[nodiscard]] bool wide() const { return shift_ + node_bits_ > 32; }
  [[nodiscard]] std::size_t bin_count() const { return bins_of(shape_, shift_); }
  template <bool wide, bool weighted>
  void add_links(Piece& piece, std::span<const NodeId> sources, std::span<const NodeId> targets,
                 std::span<const double> weights);
  template <bool wide, class Visit>
  void for_each_link_of(std::size_t bin, Visit visit) const;
  template <bool wide, bool weighted>
  void distribute_by_target(std::size_t bin, EdgeIndex most, LinkArrays& scratch, Draft& matrix,
                            std::vector<NodeId>& dangling, Table& table);
  template <bool wide, bool weighted>
  bool distribute_hub(std::size_t bin, std::size_t source, EdgeIndex most, LinkArrays& scratch,
                      std::vector<EdgeIndex>& next_of_target_bin);
  template <bool wide, bool weighted>
  void hand_on(const Links& links, EdgeIndex count, std::vector<EdgeIndex>& next_of_target_bin);
  template <bool weighted>
  EdgeIndex sort_rows(std::size_t bin, EdgeIndex begin, const Table& table, Draft& matrix);
  template <bool wide, bool weighted>
  Draft build_as(int threads);
  void close_gaps(const std::vector<EdgeIndex>& begins, std::vector<EdgeIndex> distinct,
                  int threads, Draft& matrix);

  Shape shape_;
  int node_bits_ = 0;
  int shift_ = 0;  ///< The bin of a node is node >> shift_.
  LinkArrays first_;
  std::atomic<EdgeIndex> links_ = 0;  ///< In all pieces.
  LinkArrays second_;
  std::mutex mutex_;  ///< Guards the vector, not its elements.
  std::vector<Piece> pieces_;
};

}  // namespace pagerank
