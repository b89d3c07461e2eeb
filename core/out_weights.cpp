#include "core/out_weights.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/huge_pages.hpp"

namespace pagerank {

OutWeights::OutWeights(SharedArray<double> inverses, bool compact, ThreadTeam& team)
    : inverses_(std::move(inverses)) {
  if (!compact) return;
  whole_.resize(inverses_.size());
  advise_huge_pages(std::span(whole_));
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  constexpr std::size_t piece = 1 << 14;
  const std::size_t nodes = whole_.size();
  std::atomic<bool> all_whole = true;
  team.for_each((nodes + piece - 1) / piece, [&](std::size_t p) {
    const std::size_t end = std::min(nodes, (p + 1) * piece);
    bool whole = true;
    for (std::size_t i = p * piece; i < end; ++i) {
      const double inverse = inverses_[i];
      const std::int32_t weight =
          inverse > 1 / most ? static_cast<std::int32_t>(std::lround(1 / inverse)) : 0;
      whole_[i] = weight;
      whole = whole && inverse == (weight > 0 ? 1 / static_cast<double>(weight) : 0);
    }
    if (!whole) all_whole = false;
  });
  if (all_whole) {
    inverses_ = {};
  } else {
    free_memory(whole_);
  }
}

}  // namespace pagerank
