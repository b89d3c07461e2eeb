#pragma once

#include <cstdint>

namespace pagerank {

/// A node, counted from 0 inside the program. Files and printed results count from 1.
using NodeId = std::uint32_t;

/// Counts links and indexes arrays of links: graphs of more than 2^32 links are ordinary.
using EdgeIndex = std::uint64_t;

/// The largest number of nodes a graph may have: the last two ids stay free.
inline constexpr std::uint64_t max_node_count = 0xFFFF'FFFE;

/// The floating-point type an engine iterates in. Certificates (`error_bound`) are always computed
/// in float64. `mixed`: ranks are kept in float64 and iterated in float32, first themselves, then
/// what is left to add to them, which shrinks: the result is as exact as that of float64.
enum class Precision { float64, mixed, float32 };

}  // namespace pagerank
