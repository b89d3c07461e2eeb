#include "gpu/matrix_sampler.hpp"

#include <algorithm>

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
  return gather<Row>(links.size(), [&](std::size_t i) {
    const EdgeIndex* const end = std::upper_bound(offsets.begin(), offsets.end(), links[i]);
    return Row{end[-1], *end, static_cast<NodeId>(end - 1 - offsets.begin())};
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
