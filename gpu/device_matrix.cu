#include "gpu/device_matrix.cuh"

#include <type_traits>

namespace pagerank::gpu {

TransitionMatrix DeviceTransitionMatrix::download() const {
  const auto array = [](const auto& buffer) {
    const auto numbers = buffer.download();
    return Array<typename std::decay_t<decltype(numbers)>::value_type>(numbers.begin(),
                                                                       numbers.end());
  };
  TransitionMatrix matrix;
  matrix.in_links.row_offsets = array(row_offsets);
  matrix.in_links.column_indices = array(column_indices);
  matrix.in_links.values = array(values);
  matrix.inverse_out_weight = array(inverse_out_weight);
  for (NodeId node = 0; node < matrix.node_count(); ++node) {
    if (matrix.inverse_out_weight[node] == 0) matrix.dangling.push_back(node);
  }
  matrix.distinct_links = distinct_links;
  matrix.more_unlinked = more_unlinked;
  return matrix;
}

}  // namespace pagerank::gpu
