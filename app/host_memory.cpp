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

/// What the files of a control group are called.
struct GroupFiles {
  const char *limit, *used;
  const char* idle_files;  ///< The key in memory.stat.
};

/// Files that were read count as used, the graph's text among them; what of them nobody has used
/// lately makes room for whoever needs it.
std::optional<std::uint64_t> left_in_control_group(const std::string& group,
                                                   const GroupFiles& files) {
  const auto limit = number_in(group + files.limit);
  const auto used = number_in(group + files.used);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t idle = number_of(files.idle_files, group + "memory.stat").value_or(0);
  const std::uint64_t needed = *used - std::min(*used, idle);
  return *limit > needed ? *limit - needed : 0;
}

/// This process's own group, as /proc/self/cgroup has it, of a controller of version 1; of none:
/// version 2's. Empty if it is not there: the root.
std::string own_control_group(const std::string& controller, const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLER,CONTROLLER:/GROUP
    const std::size_t controllers = line.find(':') + 1, group = line.find(':', controllers);
    if (controllers == 0 || group == std::string::npos) continue;
    const std::string listed = ',' + line.substr(controllers, group - controllers) + ',';
    if (listed.find(',' + controller + ',') != std::string::npos) return line.substr(group + 1);
  }
  return {};
}

/// The least that is left in a group and in those that it is part of. What has no files is passed
/// over: in a container the group may be called as it is outside, and be the root inside.
std::optional<std::uint64_t> left_in_control_groups(const std::string& hierarchy, std::string group,
                                                    const GroupFiles& files) {
  std::optional<std::uint64_t> least;
  for (;;) {
    const auto left = left_in_control_group(hierarchy + group + '/', files);
    if (left) least = std::min(least.value_or(*left), *left);
    if (group.empty()) return least;
    const std::size_t parent = group.rfind('/');
    group.resize(parent == std::string::npos ? 0 : parent);
  }
}

}  // namespace

std::optional<std::uint64_t> available_host_memory(const std::string& root) {
  std::optional<std::uint64_t> available = number_of("MemAvailable:", root + "proc/meminfo");
  if (available) *available *= 1024;
  const std::string groups = root + "sys/fs/cgroup", own = root + "proc/self/cgroup";
  const auto version2 = left_in_control_groups(groups, own_control_group("", own),
                                               {"memory.max", "memory.current", "inactive_file"});
  const auto version1 = left_in_control_groups(
      groups + "/memory", own_control_group("memory", own),
      {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"});
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
