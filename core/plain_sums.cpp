#include "core/plain_sums.hpp"

namespace pagerank {

PlainRows::PlainRows(const CsrMatrix& links, const PlainSizes& sizes) {
  const NodeId n = links.row_count();
  NodeId begin = 0;
  std::size_t first_giant = 0;
  EdgeIndex in_block = 0;  // giants' links are no work of the block's
  for (NodeId row = 0; row < n; ++row) {
    EdgeIndex length = links.row_offsets[row + 1] - links.row_offsets[row];
    const bool is_giant = length > sizes.block_links;
    if (is_giant) length = 0;
    if (row > begin && (in_block + length > sizes.block_links || row - begin == sizes.block_rows)) {
      blocks_.push_back({begin, row, first_giant});
      begin = row;
      first_giant = giants_.size();
      in_block = 0;
    }
    in_block += length;
    if (!is_giant) continue;
    Giant giant{row, pieces_.size(), 0};
    for (EdgeIndex k = links.row_offsets[row]; k < links.row_offsets[row + 1];
         k += sizes.block_links) {
      pieces_.push_back({k, std::min(k + sizes.block_links, links.row_offsets[row + 1])});
    }
    giant.last_piece = pieces_.size();
    giants_.push_back(giant);
  }
  if (n > begin) blocks_.push_back({begin, n, first_giant});
}

}  // namespace pagerank
