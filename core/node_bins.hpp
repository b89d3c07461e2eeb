#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace pagerank {

/// Nodes in bins of neighbours. A bin has 2^shift nodes, or, where links are many, a smaller power
/// of two of them; it begins at a multiple of that, so that of any two ranges like that one lies
/// within the other, or they have no node in common. (The last ends with the nodes.)
class NodeBins {
 public:
  NodeBins() = default;
  /// Of 2^shift nodes each (shift at most 16), but where `sample`, ends of some links, has many:
  /// the fullest is halved, again and again, until none has more than half as many again as the
  /// mean was, or is as small as bins may be (2^-14 of the nodes, about), or there are a quarter
  /// more bins, 512 at most. None where the sample has fewer links than there are bins.
  NodeBins(NodeId nodes, int shift, std::span<const NodeId> sample);

  /// Whatever the sample.
  [[nodiscard]] static std::size_t most_bins(NodeId nodes, int shift);

  [[nodiscard]] std::size_t count() const { return begins_.size() - 1; }
  [[nodiscard]] NodeId begin(std::size_t bin) const { return begins_[bin]; }
  [[nodiscard]] NodeId end(std::size_t bin) const { return begins_[bin + 1]; }
  [[nodiscard]] NodeId size(std::size_t bin) const { return end(bin) - begin(bin); }
  /// The multiple of 2^shift that the low `shift` bits of a bin's nodes are added to.
  [[nodiscard]] NodeId base(std::size_t bin) const { return begins_[bin] >> shift_ << shift_; }

  /// Calls body with what tells a node's bin.
  template <class Body>
  decltype(auto) with_bin_of(Body body) const {
    if (bin_of_cell_.empty()) return body([shift = shift_](NodeId node) { return node >> shift; });
    return body([bins = bin_of_cell_.data(), shift = cell_shift_](NodeId node) {
      return NodeId{bins[node >> shift]};
    });
  }
  [[nodiscard]] std::size_t bin_of(NodeId node) const {
    return with_bin_of([node](auto bin_of) { return std::size_t{bin_of(node)}; });
  }

 private:
  void cut(std::span<const NodeId> sample);

  int shift_ = 0;
  std::vector<NodeId> begins_ = {0};  ///< count() + 1
  /// Nodes that no bin cuts, 2^cell_shift_ of them: few enough cells for a core's first cache, or
  /// nearly so. None if no bin was halved.
  int cell_shift_ = 0;
  std::vector<std::uint16_t> bin_of_cell_;
};

}  // namespace pagerank
