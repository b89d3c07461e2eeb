#pragma once

#include <cstdint>
#include <optional>

#include "core/edge_list.hpp"

namespace pagerank::app {

/// Bytes of main memory that this process can still take without swapping or being killed: what the
/// kernel calls available, or what is left of the control group's limit. Unset if unknown.
[[nodiscard]] std::optional<std::uint64_t> available_host_memory();

/// About how many bytes building and ranking this graph will take on top of the edges themselves.
[[nodiscard]] std::uint64_t bytes_to_rank(const EdgeList& edges);

/// Throws OutOfMemory if `bytes` is more than there is. The system would not: it hands out
/// addresses for more memory than it has, and kills who writes to them.
void require_host_memory(std::uint64_t bytes);

}  // namespace pagerank::app
