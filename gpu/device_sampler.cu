#include "gpu/device_sampler.cuh"

#include "gpu/cuda_handles.cuh"
#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {
namespace {

/// at(index) of all indices, evaluated on the device.
template <class T, class Index, class At>
std::vector<T> gather(const std::vector<Index>& indices, At at) {
  const Stream stream;
  DeviceBuffer<Index> places{std::span(indices)};
  DeviceBuffer<T> found(indices.size());
  const Index* const place = places.data();
  T* const to = found.data();
  queue_for_each(
      indices.size(), [=] __device__(std::uint64_t i) { to[i] = at(place[i]); }, stream);
  stream.wait();
  return found.download();
}

}  // namespace

std::vector<MatrixSampler::Row> DeviceSampler::rows_of(const std::vector<EdgeIndex>& links) const {
  const EdgeIndex* const offsets = matrix_.row_offsets.data();
  const std::uint64_t count = matrix_.row_offsets.size();
  return gather<Row>(links, [=] __device__(EdgeIndex link) {
    const std::uint64_t end = upper_bound(offsets, count, link);
    return Row{offsets[end - 1], offsets[end]};
  });
}
std::vector<NodeId> DeviceSampler::columns(const std::vector<EdgeIndex>& links) const {
  const NodeId* const columns = matrix_.column_indices.data();
  return gather<NodeId>(links, [=] __device__(EdgeIndex link) { return columns[link]; });
}
std::vector<double> DeviceSampler::elements(const std::vector<EdgeIndex>& links) const {
  const NodeId* const columns = matrix_.column_indices.data();
  const double* const values = matrix_.values.data();
  const double* const inverse = matrix_.inverse_out_weight.data();
  return gather<double>(links, [=] __device__(EdgeIndex link) {
    return values != nullptr ? values[link] : inverse[columns[link]];
  });
}
std::vector<EdgeIndex> DeviceSampler::in_degrees(const std::vector<NodeId>& nodes) const {
  const EdgeIndex* const offsets = matrix_.row_offsets.data();
  return gather<EdgeIndex>(nodes, [=] __device__(NodeId node) {
    return offsets[std::uint64_t{node} + 1] - offsets[node];
  });
}
std::vector<double> DeviceSampler::inverse_out_weights(const std::vector<NodeId>& nodes) const {
  const double* const inverse = matrix_.inverse_out_weight.data();
  return gather<double>(nodes, [=] __device__(NodeId node) { return inverse[node]; });
}

}  // namespace pagerank::gpu
