#pragma once

#include "core/edge_list.hpp"
#include "io/byte_source.hpp"
#include "io/matrix_market_header.hpp"

namespace pagerank::io {

struct MatrixMarketGraph {
  MatrixMarketHeader header;
  EdgeList edges;
};

/// Reads a whole Matrix Market file as a graph. Memory grows with the entries that are there, not
/// with what the header claims. Throws ParseError at the first bad line, InputError if the bytes
/// cannot be had.
[[nodiscard]] MatrixMarketGraph read_matrix_market(ByteSource& source, SourceIndex source_index);

}  // namespace pagerank::io
