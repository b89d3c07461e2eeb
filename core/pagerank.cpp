#include "core/pagerank.hpp"

namespace pagerank {

DanglingNodesError::DanglingNodesError(NodeId first, std::size_t count, std::uint64_t label)
    : std::runtime_error("the graph has " + std::to_string(count) +
                         (count == 1 ? " dangling node" : " dangling nodes") +
                         " (without out-links: zero columns of B), the first is node " +
                         std::to_string(label)),
      first_(first),
      count_(count) {}

OutOfMemory::OutOfMemory(const std::string& where, std::uint64_t needed, std::uint64_t available)
    : std::runtime_error("not enough memory on " + where + ": about " + std::to_string(needed) +
                         " bytes needed, " + std::to_string(available) + " bytes available"),
      needed_(needed),
      available_(available) {}

}  // namespace pagerank
