#include "gpu/matrix_sampler.hpp"

#include <bit>

namespace pagerank::gpu {
namespace {

/// out[i] = at(i) for i < count. By one thread: others take about as long to come, and the upload,
/// beside which a graph is looked at, has work for them.
template <class T, class At>
std::vector<T> gather(std::size_t count, At at) {
  std::vector<T> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = at(i);
  return out;
}

}  // namespace

std::vector<MatrixSampler::Row> HostSampler::rows_of(const std::vector<EdgeIndex>& links) const {
  const auto& offsets = matrix_.in_links.row_offsets;
  // Bisections side by side: what memory makes one wait for the others wait for, too.
  std::vector<std::size_t> row(links.size(), 0);  // of those that begin no later, the last so far
  for (std::size_t step = std::bit_floor(offsets.size()); step > 0; step /= 2) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      const std::size_t further = row[i] + step;
      if (further < offsets.size() && offsets[further] <= links[i]) row[i] = further;
    }
  }
  return gather<Row>(links.size(), [&](std::size_t i) {
    return Row{offsets[row[i]], offsets[row[i] + 1], static_cast<NodeId>(row[i])};
  });
}
std::vector<MatrixSampler::Row> HostSampler::rows(const std::vector<NodeId>& nodes) const {
  const auto& offsets = matrix_.in_links.row_offsets;
  return gather<Row>(nodes.size(), [&](std::size_t i) {
    return Row{offsets[nodes[i]], offsets[std::size_t{nodes[i]} + 1], nodes[i]};
  });
}
std::vector<NodeId> HostSampler::columns(const std::vector<EdgeIndex>& links) const {
  return gather<NodeId>(links.size(),
                        [&](std::size_t i) { return matrix_.in_links.column_indices[links[i]]; });
}
std::vector<double> HostSampler::elements(const std::vector<EdgeIndex>& links) const {
  const CsrMatrix& matrix = matrix_.in_links;
  return gather<double>(links.size(), [&](std::size_t i) {
    return matrix.values.empty() ? matrix_.inverse_out_weight[matrix.column_indices[links[i]]]
                                 : matrix.values[links[i]];
  });
}
std::vector<double> HostSampler::inverse_out_weights(const std::vector<NodeId>& nodes) const {
  return gather<double>(nodes.size(),
                        [&](std::size_t i) { return matrix_.inverse_out_weight[nodes[i]]; });
}

}  // namespace pagerank::gpu
