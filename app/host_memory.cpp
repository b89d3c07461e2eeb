#include "app/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/pagerank.hpp"
#include "core/transition_builder.hpp"

namespace pagerank::app {
namespace {

/// The first number in a file of the kernel's; unset if there is none ("max").
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::uint64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

/// The number behind `key` and blanks at the beginning of a line.
std::optional<std::uint64_t> number_of(const std::string& key, const std::string& path) {
  std::ifstream file(path);
  std::string word;
  for (std::uint64_t number = 0; file >> word;) {
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

/// Files that were read count as used, the graph's text among them; what of them nobody has used
/// lately makes room for whoever needs it.
std::optional<std::uint64_t> left_in_control_group(const std::string& group, const char* limit_in,
                                                   const char* used_in, const char* idle_files) {
  const auto limit = number_in(group + limit_in);
  const auto used = number_in(group + used_in);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t idle = number_of(idle_files, group + "memory.stat").value_or(0);
  const std::uint64_t needed = *used - std::min(*used, idle);
  return *limit > needed ? *limit - needed : 0;
}

}  // namespace

std::optional<std::uint64_t> available_host_memory(const std::string& root) {
  std::optional<std::uint64_t> available = number_of("MemAvailable:", root + "proc/meminfo");
  if (available) *available *= 1024;
  const std::string groups = root + "sys/fs/cgroup/";
  const auto version2 =
      left_in_control_group(groups, "memory.max", "memory.current", "inactive_file");
  const auto version1 = left_in_control_group(groups + "memory/", "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "total_inactive_file");
  for (const auto& left : {version2, version1}) {
    if (left) available = std::min(available.value_or(*left), *left);
  }
  return available;
}

std::uint64_t bytes_to_rank(std::uint64_t nodes, std::uint64_t links, bool weighted) {
  // Beside the links as they were read: those that a later distribution has not got room for in
  // the memory of the one before, and what is gathered at a time. Offsets, degrees, the vectors of
  // a solve, the scores and their order are what the nodes take. Of this, 0.6 to 1 was taken where
  // measured, and up to 2 MB a thread more; of edge lists, of which more is held, often much less.
  constexpr std::uint64_t bytes_a_node = 32, bytes_a_link = 5, bytes_a_weighted_link = 16;
  const std::uint64_t tables =
      links == 0 ? 0  // nothing is built
                 : TransitionMatrixBuilder::bytes_of_build_tables(
                       {.node_count = static_cast<NodeId>(nodes), .expected_entries = links});
  return links * (weighted ? bytes_a_weighted_link : bytes_a_link) + nodes * bytes_a_node + tables;
}

void require_host_memory(std::uint64_t bytes) {
  const auto available = available_host_memory();
  if (available && bytes > *available) throw OutOfMemory("this machine", bytes, *available);
}

}  // namespace pagerank::app
