#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/array.hpp"
#include "core/shared_array.hpp"
#include "core/thread_team.hpp"
#include "core/types.hpp"

namespace pagerank {

/// 1 / out-weight of each node, as TransitionMatrix::inverse_out_weight has it, or, for a division
/// each time, in 4 bytes a node instead of 8: it is 1 / a whole number of links, or 0, and comes
/// back bit for bit. Inverses of another kind, or of 2^31 links and more, stay as they are.
class OutWeights {
 public:
  /// Nodes whose inverses are asked for at a time, at most.
  static constexpr std::size_t at_once = 256;
  using Few = std::array<double, at_once>;

  /// Whether halving what they take is worth a division a node and iteration: that is where memory
  /// is the nodes' more than the links'. Of graphs without weights.
  [[nodiscard]] static bool worth_compacting(NodeId nodes, EdgeIndex links) {
    return links / 8 <= nodes;
  }

  /// `compact`: in 4 bytes, if that can be; lets go of `inverses` then.
  OutWeights(SharedArray<double> inverses, bool compact, ThreadTeam& team);

  /// The inverses of nodes begin to end - 1: where they lie, or as they are calculated into `few`.
  [[nodiscard]] const double* inverses(std::size_t begin, std::size_t end, Few& few) const {
    if (whole_.empty()) return inverses_.data() + begin;
    const std::int32_t* const whole = whole_.data() + begin;
    for (std::size_t i = 0; i < end - begin; ++i) {  // 0 / 1 or 1 / weight: no branch
      const std::int32_t none = whole[i] == 0 ? 1 : 0;
      few[i] = static_cast<double>(1 - none) / static_cast<double>(whole[i] + none);
    }
    return few.data();
  }

  /// Calls body(node, 1 / its out-weight) for nodes begin to end - 1.
  template <class Body>
  void for_each_inverse(std::size_t begin, std::size_t end, Body body) const {
    Few few;
    for (std::size_t first = begin; first < end; first += std::min(at_once, end - first)) {
      const std::size_t last = first + std::min(at_once, end - first);
      const double* const those = inverses(first, last, few);
      for (std::size_t i = first; i < last; ++i) body(i, those[i - first]);
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    return whole_.size() * sizeof(std::int32_t) + inverses_.size() * sizeof(double);
  }

 private:
  Array<std::int32_t> whole_;  ///< 0 of a dangling node.
  SharedArray<double> inverses_;
};

}  // namespace pagerank
