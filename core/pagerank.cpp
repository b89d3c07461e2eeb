#include "core/pagerank.hpp"

#include <algorithm>

namespace pagerank {
namespace {

std::uint64_t in_one_piece(std::uint64_t needed, std::uint64_t available) {
  return needed == 0 ? available : std::min(available, needed - 1);
}

}  // namespace

DanglingNodesError::DanglingNodesError(NodeId first, std::size_t count, std::uint64_t label)
    : std::runtime_error("the graph has " + std::to_string(count) +
                         (count == 1 ? " dangling node" : " dangling nodes") +
                         " (without out-links: zero columns of B), the first is node " +
                         std::to_string(label)),
      first_(first),
      count_(count) {}

OutOfMemory::OutOfMemory(const std::string& where, std::uint64_t needed, std::uint64_t available)
    : std::runtime_error("not enough memory on " + where + ": about " + std::to_string(needed) +
                         " bytes needed, " + std::to_string(in_one_piece(needed, available)) +
                         " bytes available"),
      needed_(needed),
      available_(in_one_piece(needed, available)) {}

}  // namespace pagerank
