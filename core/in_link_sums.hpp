#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "core/blocked_sums.hpp"
#include "core/cpu_layout.hpp"
#include "core/plain_sums.hpp"
#include "core/scratch_memory.hpp"

namespace pagerank {

struct CpuSizes {
  PlainSizes plain;
  BlockedSizes blocked;
};

/// The sums over in-links that an iteration is made of, in the layout that suits the graph. Results
/// are the same bits for any number of threads.
class InLinkSums {
 public:
  /// For exact sums z is double whatever is wished for. Of links in another layout partial sums get
  /// the memory, if nobody else has them.
  InLinkSums(CsrMatrix links, const LayoutWish& wish, const PlainSizes& plain_sizes,
             ThreadTeam& team);
  /// Of links that are laid out.
  InLinkSums(BlockedLayout links, bool narrow, ScratchMemory partial_sums, ThreadTeam& team);

  [[nodiscard]] bool blocked() const { return blocked_.has_value(); }

  /// Calls body(block, begin, end, y) for each of a number of blocks of rows, several at once:
  /// y(i) is the sum of row begin + i over its links, of z(source) times the link's value.
  template <class T, class Body>
  void for_each_block(const T* z, Body body) {
    constexpr EdgeIndex plain_piece = 256;
    if (blocked_) {
      for_each_blocked<double>(z, body);
    } else {
      for_each_plain_block<plain_piece>(links_, plain_rows(), z, team_, body);
    }
  }

  /// The same with compensated sums: whatever a row's length, its sum's relative error is at most
  /// 20 units roundoff (a run: 17 at most, the runs' sum: 2).
  template <class Body>
  void for_each_exact_block(const double* z, Body body) {
    constexpr EdgeIndex plain_piece = 16;
    if (exactly_blocked()) {
      for_each_blocked<CompensatedSum>(z, body);
    } else {
      for_each_plain_block<plain_piece>(links_, plain_rows(), z, team_, body);
    }
  }

  [[nodiscard]] std::size_t block_count() { return count(blocked_.has_value()); }
  [[nodiscard]] std::size_t exact_block_count() { return count(exactly_blocked()); }

  /// What for_each_block moves at least: each array of the layout once, partial sums twice.
  [[nodiscard]] std::uint64_t bytes(std::size_t value_bytes) const;

 private:
  void lay_out(const BlockedSizes& sizes);

  /// Values that were narrowed are not exact.
  [[nodiscard]] bool exactly_blocked() const { return blocked_ && blocked_->narrow_values.empty(); }
  [[nodiscard]] std::size_t count(bool in_blocked) {
    return in_blocked ? blocked_->blocks.size() : plain_rows().blocks().size();
  }
  PlainRows& plain_rows() {
    if (!plain_) plain_.emplace(links_, plain_sizes_);
    return *plain_;
  }

  template <class Accumulator, class T, class Body>
  void for_each_blocked(const T* z, Body& body) {
    const BlockedLayout& layout = *blocked_;
    // Exact sums of floats' layout make do with the memory there is, some blocks at a time.
    partials_.reserve(layout.bytes_of_partials(narrow_));
    const EdgeIndex most = partials_.size() / sizeof(T);
    for (const BlockedLayout::Group& group : layout.groups) {
      for (std::size_t first = group.first_block; first < group.last_block;) {
        std::size_t last = first + 1;
        while (last < group.last_block &&
               layout.blocks[last].last_run - layout.blocks[first].first_run <= most) {
          ++last;
        }
        BlockedSums<T> sums(layout, {group, first, last}, partials_.as<T>());
        if (!weighted_) {
          sums.template gather<false>(z, layout.narrow_values.data(), team_);
        } else if (!layout.values.empty()) {
          sums.template gather<true>(z, layout.values.data(), team_);
        } else {
          sums.template gather<true>(z, layout.narrow_values.data(), team_);
        }
        sums.template combine<Accumulator>(team_, body);
        first = last;
      }
    }
  }

  CsrMatrix links_;  ///< Empty where all sums are over the blocked layout.
  bool weighted_, narrow_;
  PlainSizes plain_sizes_;
  ThreadTeam& team_;
  std::optional<PlainRows> plain_;  ///< When first needed.
  std::optional<BlockedLayout> blocked_;
  ScratchMemory partials_;
};

}  // namespace pagerank
