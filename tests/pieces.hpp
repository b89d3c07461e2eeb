#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/edge_list.hpp"
#include "core/transition_builder.hpp"

namespace pagerank::tests {

/// All entries, so many in each piece, in order.
inline void add_in_pieces(TransitionMatrixBuilder& builder, const EdgeList& edges,
                          std::size_t piece) {
  for (std::size_t begin = 0; begin < edges.entry_count(); begin += piece) {
    const std::size_t size = std::min(piece, edges.entry_count() - begin);
    builder.add(begin / piece, std::span(edges.sources).subspan(begin, size),
                std::span(edges.targets).subspan(begin, size),
                edges.weighted() ? std::span(edges.weights).subspan(begin, size)
                                 : std::span<const double>());
  }
}

}  // namespace pagerank::tests
