#include "core/node_bins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

namespace pagerank {
namespace {

std::size_t ranges_of(NodeId nodes, int shift) {
  return ((std::max<std::size_t>(nodes, 1) - 1) >> shift) + 1;
}

/// So many that a table of all pairs of bins is not much larger for them.
std::size_t extra_bins(std::size_t bins) {
  constexpr std::size_t most = 512;
  return std::min(bins / 4, most);
}

}  // namespace

std::size_t NodeBins::most_bins(NodeId nodes, int shift) {
  const std::size_t bins = ranges_of(nodes, shift);
  return bins + extra_bins(bins);
}

NodeBins::NodeBins(NodeId nodes, int shift, std::span<const NodeId> sample)
    : shift_(shift), begins_(ranges_of(nodes, shift) + 1) {
  for (std::size_t bin = 0; bin < count(); ++bin) begins_[bin] = static_cast<NodeId>(bin << shift);
  begins_.back() = nodes;
  cut(sample);
}

void NodeBins::cut(std::span<const NodeId> sample) {
  if (sample.size() < count()) return;  // chance would cut
  constexpr int most_cells_log2 = 14;
  const NodeId nodes = begins_.back();
  const int node_bits = static_cast<int>(std::bit_width(std::max<NodeId>(nodes, 1) - 1));
  cell_shift_ = std::clamp(node_bits - most_cells_log2, 0, shift_);
  const std::size_t cells = ranges_of(nodes, cell_shift_);
  std::vector<std::uint32_t> before(cells + 1, 0);  // of the sample, before each cell
  for (const NodeId node : sample) ++before[(node >> cell_shift_) + 1];
  for (std::size_t cell = 1; cell <= cells; ++cell) before[cell] += before[cell - 1];

  struct Bin {
    std::uint32_t of_sample;
    int shift;
    NodeId begin;
    bool operator<(const Bin& other) const { return of_sample < other.of_sample; }
  };
  const auto bin_at = [&](std::size_t begin, int shift) {
    const std::size_t first = begin >> cell_shift_;
    const std::size_t last = std::min(cells, first + (std::size_t{1} << (shift - cell_shift_)));
    return Bin{before[last] - before[first], shift, static_cast<NodeId>(begin)};
  };
  std::priority_queue<Bin> fullest;
  for (std::size_t bin = 0; bin < count(); ++bin) fullest.push(bin_at(begins_[bin], shift_));
  // Half as many again as the mean, and what chance may add to these.
  const double mean = static_cast<double>(sample.size()) / static_cast<double>(count());
  const double most = 1.5 * mean + 4 * std::sqrt(mean);
  const std::size_t whole = count();
  std::size_t left = extra_bins(whole);
  while (left > 0 && !fullest.empty() && fullest.top().of_sample > most) {
    const Bin bin = fullest.top();
    fullest.pop();
    if (bin.shift == cell_shift_) continue;
    const std::size_t middle = bin.begin + (std::size_t{1} << (bin.shift - 1));
    fullest.push(bin_at(bin.begin, bin.shift - 1));
    if (middle >= nodes) continue;  // of the last bin
    fullest.push(bin_at(middle, bin.shift - 1));
    begins_.push_back(static_cast<NodeId>(middle));
    --left;
  }
  if (count() == whole) return;
  std::sort(begins_.begin(), begins_.end());
  for (std::size_t bin = 0; bin < count(); ++bin) {
    bin_of_cell_.resize(ranges_of(end(bin), cell_shift_), static_cast<std::uint16_t>(bin));
  }
}

}  // namespace pagerank
