#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pagerank {

/// How many bins of each part are left to be done. From any thread.
class PartCounts {
 public:
  PartCounts(const std::vector<std::uint8_t>& part_of_bin, std::size_t parts) : left_(parts) {
    for (const std::uint8_t part : part_of_bin) ++left_[part];
  }
  /// One bin of the part is done. Returns whether it was the last.
  [[nodiscard]] bool count_down(std::size_t part) { return --left_[part] == 0; }

 private:
  std::vector<std::atomic<std::size_t>> left_;
};

}  // namespace pagerank
