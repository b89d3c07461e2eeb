#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pagerank::app {

/// Bytes of main memory that this process can still take without swapping or being killed: what the
/// kernel calls available, or what is left of the limits of its control group and of those that
/// this is part of. Unset if unknown. The kernel's files are those below `root`.
[[nodiscard]] std::optional<std::uint64_t> available_host_memory(const std::string& root = "/");

/// About how many more bytes building and ranking a graph will take once its links are there; no
/// links: those of a matrix that need not be built.
[[nodiscard]] std::uint64_t bytes_to_rank(std::uint64_t nodes, std::uint64_t links, bool weighted);

/// Throws OutOfMemory if `bytes` is more than there is. The system would not: it hands out
/// addresses for more memory than it has, and kills who writes to them.
void require_host_memory(std::uint64_t bytes);

}  // namespace pagerank::app
