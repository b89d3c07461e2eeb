#pragma once

#include <ostream>
#include <string>

#include "core/edge_list.hpp"

namespace pagerank::io {

/// Writes a graph as a Matrix Market coordinate file in which an entry (i, j, w) is a link from i
/// to j (the row index names the source): pattern or, with weights, real with as many digits as
/// reading them back exactly takes; symmetric (each entry in the lower triangle) if undirected,
/// else general. Entries keep their order, repeats included. `comment` may have several lines.
/// Formats with `threads` threads (0: as many as OpenMP offers). Failures show in the stream's
/// state.
void write_matrix_market(std::ostream& out, const EdgeList& edges, const std::string& comment = {},
                         int threads = 0);

}  // namespace pagerank::io
