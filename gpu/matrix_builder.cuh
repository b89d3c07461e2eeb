#pragma once

#include "gpu/device_matrix.cuh"
#include "gpu/reader_memory.hpp"
#include "gpu/text_parser.cuh"

namespace pagerank::gpu {

/// The matrix of the entries, bit for bit that of TransitionMatrixBuilder. Links are sorted by
/// source, stable, so that those of one lie side by side, in the order of the text, where they are
/// counted or their weights added up and divided; then by target, stable again; weighted links of
/// the same two nodes, still in order, are added up.
[[nodiscard]] DeviceTransitionMatrix build_transition_matrix(DeviceEntries entries,
                                                             const MatrixShape& shape,
                                                             cudaStream_t stream);

}  // namespace pagerank::gpu
