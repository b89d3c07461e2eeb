#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/blocked_layout.hpp"
#include "core/csr_matrix.hpp"
#include "core/types.hpp"

namespace pagerank {

/// How a graph's links are held for the CPU engine's iterations.
enum class CpuLayout {
  automatic,  ///< By the graph's size and shape.
  plain,      ///< The matrix as it is.
  blocked     ///< BlockedLayout.
};

/// What a layout is for.
struct LayoutWish {
  CpuLayout layout = CpuLayout::automatic;
  double expected_iterations = 10;  ///< Of all solves together.
  bool narrow = true;               ///< z will be floats.
  BlockedSizes sizes;

  /// The same, which reckons with so many bytes that are held besides, of so many nodes.
  [[nodiscard]] LayoutWish beside(std::size_t bytes, NodeId nodes) const {
    LayoutWish wish = *this;
    wish.sizes.bytes_a_node += (bytes + nodes - 1) / nodes;
    return wish;
  }
};

/// Iterations that few graphs take less of: those of a graph whose links lead to any node alike, 16
/// a node, where a change is about alpha / 4 times the last (uniform:20x16 takes 10, 13 and 16 to
/// 1e-6, 1e-8 and 1e-10 at alpha 0.85).
[[nodiscard]] double least_usual_iterations(double alpha, double tolerance);

/// About how many bytes a layout of their own takes at most beside the links as they are, while it
/// is made and afterwards, with the partial sums of an iteration: these get the memory of ids that
/// nobody else has. `narrow`: as InLinkSums has it.
[[nodiscard]] std::uint64_t bytes_to_lay_out(const CsrMatrix& links, bool narrow,
                                             const BlockedSizes& sizes = {});

/// Some links of a matrix, by which the layout is chosen: stretches of neighbours, row by row. A
/// few of them follow each other at each of some places, for who has to sort what lies there first.
class LinkSample {
 public:
  static constexpr std::size_t places = 16, at_a_place = 4, stretches = places * at_a_place;
  static constexpr std::size_t length = 2048;
  struct Link {
    NodeId column;
    bool begins_row;
  };
  /// Of a matrix with so many links, least_links at least.
  static constexpr EdgeIndex least_links = 1 << 20;
  [[nodiscard]] static EdgeIndex begin(std::size_t stretch, EdgeIndex links) {
    return links / places * (stretch / at_a_place) + stretch % at_a_place * length;
  }

  LinkSample() : links_(stretches * length) {}
  explicit LinkSample(const CsrMatrix& links);

  [[nodiscard]] Link& link(std::size_t stretch, std::size_t i) {
    return links_[stretch * length + i];
  }
  [[nodiscard]] const Link& link(std::size_t stretch, std::size_t i) const {
    return links_[stretch * length + i];
  }

 private:
  std::vector<Link> links_;
};

namespace detail {
[[nodiscard]] bool is_worth_a_look(NodeId nodes, EdgeIndex links, const LayoutWish& wish);
[[nodiscard]] CpuLayout choose_by_sample(NodeId nodes, EdgeIndex links, const LayoutWish& wish,
                                         const LinkSample& sample);
}  // namespace detail

/// The layout of a matrix of that size that is wished for: if any, the one with which so many
/// iterations take less time, preparation included, by what `sample()` is asked for then.
template <class Sample>
[[nodiscard]] CpuLayout choose_layout(NodeId nodes, EdgeIndex links, const LayoutWish& wish,
                                      Sample sample) {
  if (wish.layout != CpuLayout::automatic) return wish.layout;
  if (!detail::is_worth_a_look(nodes, links, wish)) return CpuLayout::plain;
  return detail::choose_by_sample(nodes, links, wish, sample());
}

}  // namespace pagerank
