#pragma once

#include "core/edge_list.hpp"
#include "gpu/device_matrix.cuh"
#include "gpu/text_parser.cuh"

namespace pagerank::gpu {

/// What is known of the entries that a matrix is made of.
struct MatrixShape {
  std::uint64_t nodes = 0;
  bool weighted = false;
  bool symmetric = false;  ///< An entry off the diagonal is two links.
  SourceIndex source_index = SourceIndex::row;
};

/// Device bytes for so many entries and the matrix of them while it is built.
[[nodiscard]] std::size_t bytes_to_build(std::uint64_t entries, const MatrixShape& shape);

/// The matrix of the entries, bit for bit that of TransitionMatrixBuilder. Unweighted links are
/// sorted by target and source at once. Weighted ones are sorted by source, stable, so that the
/// links of one lie in the order of the text, where their weights are added up and divided; then by
/// target, stable again; links of the same two nodes, still in order, are added up.
[[nodiscard]] DeviceTransitionMatrix build_transition_matrix(DeviceEntries entries,
                                                             const MatrixShape& shape,
                                                             cudaStream_t stream);

}  // namespace pagerank::gpu
