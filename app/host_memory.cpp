#include "app/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/pagerank.hpp"
#include "core/transition_builder.hpp"

namespace pagerank::app {
namespace {

/// The first number in a file of the kernel's; unset if there is none ("max").
std::optional<std::uint64_t> number_in(const char* path) {
  std::uint64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

std::optional<std::uint64_t> left_in_control_group(const char* limit_path, const char* used_path) {
  const auto limit = number_in(limit_path);
  const auto used = number_in(used_path);
  if (!limit || !used) return std::nullopt;
  return *limit > *used ? *limit - *used : 0;
}

}  // namespace

std::optional<std::uint64_t> available_host_memory() {
  std::optional<std::uint64_t> available;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    constexpr const char* key = "MemAvailable:";
    if (line.starts_with(key)) {
      available = std::stoull(line.substr(std::char_traits<char>::length(key))) * 1024;
    }
  }
  const auto version2 =
      left_in_control_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current");
  const auto version1 = left_in_control_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                              "/sys/fs/cgroup/memory/memory.usage_in_bytes");
  for (const auto& left : {version2, version1}) {
    if (left) available = std::min(available.value_or(*left), *left);
  }
  return available;
}

std::uint64_t bytes_to_rank(std::uint64_t nodes, std::uint64_t links, bool weighted) {
  // The builder's second array of links and the matrix; offsets, degrees, the vectors of a solve,
  // the scores and their order are what the nodes take.
  constexpr std::uint64_t bytes_a_node = 64;
  const std::uint64_t tables =
      links == 0 ? 0  // nothing is built
                 : TransitionMatrixBuilder::bytes_of_build_tables(
                       {.node_count = static_cast<NodeId>(nodes), .expected_entries = links});
  return links * (weighted ? 24 : 8) + nodes * bytes_a_node + tables;
}

void require_host_memory(std::uint64_t bytes) {
  const auto available = available_host_memory();
  if (available && bytes > *available) throw OutOfMemory("this machine", bytes, *available);
}

}  // namespace pagerank::app
