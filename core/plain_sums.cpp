#include "core/plain_sums.hpp"

namespace pagerank {

PlainRows::PlainRows(const CsrMatrix& links, const PlainSizes& sizes) {
  const NodeId n = links.row_count();
  NodeId begin = 0;
  std::size_t first_giant = 0;
  EdgeIndex in_block = 0;  // giants' links are no work of the block's
  NodeId empty = 0;        // rows of the block
  const auto end_block = [&](NodeId end) {
    // Fewer cost less time than a list of the others.
    const bool listed = empty > (end - begin) / 8;
    const std::size_t first_row = listed_rows_.size();
    for (NodeId row = begin; listed && row < end; ++row) {
      if (links.row_offsets[row] == links.row_offsets[row + 1]) continue;
      listed_rows_.push_back(static_cast<std::uint16_t>(row - begin));
    }
    blocks_.push_back({begin, end, first_giant, listed, first_row, listed_rows_.size()});
    begin = end;
    first_giant = giants_.size();
    in_block = 0;
    empty = 0;
  };
  for (NodeId row = 0; row < n; ++row) {
    EdgeIndex length = links.row_offsets[row + 1] - links.row_offsets[row];
    const bool is_giant = length > sizes.block_links;
    if (is_giant) length = 0;
    if (row > begin && (in_block + length > sizes.block_links || row - begin == sizes.block_rows)) {
      end_block(row);
    }
    in_block += length;
    if (length == 0 && !is_giant) ++empty;
    if (!is_giant) continue;
    Giant giant{row, pieces_.size(), 0};
    for (EdgeIndex k = links.row_offsets[row]; k < links.row_offsets[row + 1];
         k += sizes.block_links) {
      pieces_.push_back({k, std::min(k + sizes.block_links, links.row_offsets[row + 1])});
    }
    giant.last_piece = pieces_.size();
    giants_.push_back(giant);
  }
  if (n > begin) end_block(n);
}

}  // namespace pagerank
