#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/compensated_sum.hpp"
#include "core/csr_matrix.hpp"
#include "core/thread_team.hpp"

namespace pagerank {

/// The sizes that rows are shared out by. Tests make them small.
struct PlainSizes {
  /// Links and rows of a block of rows, at most. A row of more links than that is cut into pieces.
  EdgeIndex block_links = 1 << 15;
  NodeId block_rows = 1 << 13;  ///< At most 2^16.
};

/// Rows of the matrix as it is, cut into blocks of about equal work.
class PlainRows {
 public:
  PlainRows(const CsrMatrix& links, const PlainSizes& sizes);

  struct Block {
    NodeId begin, end;
    std::size_t first_giant;          ///< The first in giants() that is not before `begin`.
    bool listed;                      ///< Rows without links are many enough to leave them out:
    std::size_t first_row, last_row;  ///< those with links, in listed_rows().
  };
  /// A row that is a block's work or more, and its pieces in pieces().
  struct Giant {
    NodeId row;
    std::size_t first_piece, last_piece;
  };
  struct Piece {
    EdgeIndex begin, end;
  };
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// The rows of a listed block that have links, counted from its first.
  [[nodiscard]] std::span<const std::uint16_t> listed_rows(const Block& block) const {
    return std::span(listed_rows_).subspan(block.first_row, block.last_row - block.first_row);
  }
  [[nodiscard]] const std::vector<Giant>& giants() const { return giants_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Block> blocks_;
  std::vector<std::uint16_t> listed_rows_;
  std::vector<Giant> giants_;
  std::vector<Piece> pieces_;
};

namespace detail {

/// Sum of z over links [begin, end) in double, at most `piece` of them by plain addition, the
/// pieces' sums compensated, so that a hub with millions of in-links keeps its digits.
template <EdgeIndex piece, class T>
double sum_links(const CsrMatrix& links, const T* z, EdgeIndex begin, EdgeIndex end) {
  const NodeId* const columns = links.column_indices.data();
  const double* const values = links.values.empty() ? nullptr : links.values.data();
  const auto sum_piece = [&](EdgeIndex k, EdgeIndex last, auto term) -> double {
    double a = 0, b = 0;
    for (; k + 2 <= last; k += 2) {
      a += term(k);
      b += term(k + 1);
    }
    if (k < last) a += term(k);
    return a + b;
  };
  const auto sum = [&](auto term) {
    if (end - begin <= piece) return sum_piece(begin, end, term);
    CompensatedSum y;
    for (EdgeIndex k = begin; k < end; k += piece) {
      y.add(sum_piece(k, std::min(k + piece, end), term));
    }
    return y.value();
  };
  if (values == nullptr) return sum([=](EdgeIndex k) -> double { return z[columns[k]]; });
  return sum([=](EdgeIndex k) { return values[k] * z[columns[k]]; });
}

}  // namespace detail

/// Calls body(block, begin, end, y) for each block of rows, y[i] being the sum of row begin + i
/// over its links of z, times their values if there are any.
template <EdgeIndex piece, class T, class Body>
void for_each_plain_block(const CsrMatrix& links, const PlainRows& rows, const T* z,
                          ThreadTeam& team, Body& body) {
  std::vector<double> of_pieces(rows.pieces().size());
  team.for_each(of_pieces.size(), [&](std::size_t p) {
    of_pieces[p] = detail::sum_links<piece>(links, z, rows.pieces()[p].begin, rows.pieces()[p].end);
  });
  team.for_each(rows.blocks().size(), [&](std::size_t b) {
    thread_local std::vector<double> y;  // kept: its pages are there
    const PlainRows::Block& block = rows.blocks()[b];
    y.resize(block.end - block.begin);
    std::size_t next_giant = block.first_giant;
    const auto add_up = [&](NodeId row) {
      if (next_giant < rows.giants().size() && rows.giants()[next_giant].row == row) {
        const PlainRows::Giant& giant = rows.giants()[next_giant++];
        CompensatedSum sum;
        for (std::size_t p = giant.first_piece; p < giant.last_piece; ++p) sum.add(of_pieces[p]);
        y[row - block.begin] = sum.value();
        return;
      }
      y[row - block.begin] =
          detail::sum_links<piece>(links, z, links.row_offsets[row], links.row_offsets[row + 1]);
    };
    if (block.listed) {
      std::fill(y.begin(), y.end(), 0.0);
      for (const std::uint16_t row : rows.listed_rows(block)) add_up(block.begin + row);
    } else {
      for (NodeId row = block.begin; row < block.end; ++row) add_up(row);
    }
    body(b, block.begin, block.end, y.data());
  });
}

}  // namespace pagerank
