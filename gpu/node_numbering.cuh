#pragma once

#include <functional>

#include "core/labelled_links.hpp"
#include "gpu/reader_memory.hpp"
#include "gpu/text_parser.cuh"

namespace pagerank::gpu {

/// Of all rows and columns of some entries, at least one.
[[nodiscard]] LabelRange range_of(const LabelledEntries& entries, cudaStream_t stream);

/// Entries between numbered nodes, and what those are called.
struct NumberedEntries {
  DeviceEntries entries;
  std::uint64_t nodes = 0;
  NodeLabels labels;
};

/// Numbers the nodes as LabelledLinks does: those that occur, in order of their labels. Where
/// labels lie close together, by the same rule, those that occur are marked in an array of bits,
/// and a number is the count of the bits before; else all are sorted, and a number is found by
/// bisection. `require_nodes` is told how many they are before they are numbered, and may throw.
/// `threads` of the host write labels that need not be fetched.
[[nodiscard]] NumberedEntries number_nodes(
    LabelledEntries entries, const LabelRange& range,
    const std::function<void(std::uint64_t nodes)>& require_nodes, int threads,
    cudaStream_t stream);

}  // namespace pagerank::gpu
