#include "gpu/row_sample.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/blocked_shape.hpp"

namespace pagerank::gpu {

std::size_t RowSample::most_columns(std::uint64_t nodes) {
  // Of the windows there are, so many see nearly all that a row falls into.
  const std::size_t windows = nodes / blocked_shape(sizeof(float)).window_size + 1;
  return std::clamp<std::size_t>(4 * windows, 64, 256);
}

RowSample sample_rows(const MatrixSampler& matrix, std::size_t most_rows) {
  const std::size_t most_columns = RowSample::most_columns(matrix.node_count());
  std::vector<EdgeIndex> links(most_rows);
  const EdgeIndex apart = matrix.link_count() / most_rows;
  for (std::size_t r = 0; r < most_rows; ++r) links[r] = r * apart + apart / 2;
  const std::vector<MatrixSampler::Row> rows = matrix.rows_of(links);
  RowSample sample;
  sample.links.reserve(most_rows * most_columns);
  for (const auto& [begin, end, node] : rows) {
    sample.begins.push_back(sample.links.size());
    sample.lengths.push_back(end - begin);
    const EdgeIndex stride = (end - begin + most_columns - 1) / most_columns;
    for (EdgeIndex k = begin; k < end; k += stride) sample.links.push_back(k);
  }
  sample.begins.push_back(sample.links.size());
  sample.columns = matrix.columns(sample.links);
  return sample;
}

double RowSample::runs_per_link(const std::vector<NodeId>& places, std::uint64_t nodes,
                                std::uint32_t window_size) const {
  double sum = 0;
  std::vector<std::size_t> last_row(nodes / window_size + 1, lengths.size());  // of each window
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    std::size_t windows = 0;
    for (std::uint64_t i = begins[r]; i < begins[r + 1]; ++i) {
      std::size_t& last = last_row[places[i] / window_size];
      windows += last != r ? 1 : 0;
      last = r;
    }
    sum += static_cast<double>(windows) / static_cast<double>(lengths[r]);
  }
  return sum / static_cast<double>(lengths.size());
}

double RowSample::runs_per_random_link(std::uint64_t nodes, std::uint32_t window_size) const {
  const double windows = std::ceil(static_cast<double>(nodes) / window_size);
  double sum = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto seen = static_cast<double>(begins[r + 1] - begins[r]);
    sum += windows * (1 - std::pow(1 - 1 / windows, seen)) / static_cast<double>(lengths[r]);
  }
  return sum / static_cast<double>(lengths.size());
}

}  // namespace pagerank::gpu
