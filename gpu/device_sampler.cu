#include "gpu/device_sampler.cuh"

#include <cstring>

#include "gpu/device_algorithms.cuh"

namespace pagerank::gpu {
namespace {

/// at(index) of all indices, evaluated on the device.
template <class Found, class Index, class At>
std::vector<Found> gather(ExchangeMemory& memory, const Stream& stream,
                          const std::vector<Index>& indices, At at) {
  if (indices.empty()) return {};
  constexpr std::size_t alignment = 16;
  const std::size_t asked = indices.size() * sizeof(Index);
  const std::size_t answer = (asked + alignment - 1) / alignment * alignment;
  // Memory of each call's own, and copies of so little, would take longer than all else.
  memory.reserve(answer + indices.size() * sizeof(Found));
  std::memcpy(memory.on_host(), indices.data(), asked);
  const auto* const place = reinterpret_cast<const Index*>(memory.on_device());
  auto* const found = reinterpret_cast<Found*>(memory.on_device() + answer);
  queue_for_each(
      indices.size(), [=] __device__(std::uint64_t i) { found[i] = at(place[i]); }, stream);
  stream.wait();
  const auto* const values = reinterpret_cast<const Found*>(memory.on_host() + answer);
  return std::vector<Found>(values, values + indices.size());
}

}  // namespace

std::vector<MatrixSampler::Row> DeviceSampler::rows_of(const std::vector<EdgeIndex>& links) const {
  const EdgeIndex* const offsets = matrix_.row_offsets.data();
  const std::uint64_t count = matrix_.row_offsets.size();
  return gather<Row>(memory_, stream_, links, [=] __device__(EdgeIndex link) {
    const std::uint64_t end = upper_bound(offsets, count, link);
    return Row{offsets[end - 1], offsets[end], static_cast<NodeId>(end - 1)};
  });
}
std::vector<MatrixSampler::Row> DeviceSampler::rows(const std::vector<NodeId>& nodes) const {
  const EdgeIndex* const offsets = matrix_.row_offsets.data();
  return gather<Row>(memory_, stream_, nodes, [=] __device__(NodeId node) {
    return Row{offsets[node], offsets[std::uint64_t{node} + 1], node};
  });
}
std::vector<NodeId> DeviceSampler::columns(const std::vector<EdgeIndex>& links) const {
  const NodeId* const columns = matrix_.column_indices.data();
  return gather<NodeId>(memory_, stream_, links,
                        [=] __device__(EdgeIndex link) { return columns[link]; });
}
std::vector<double> DeviceSampler::elements(const std::vector<EdgeIndex>& links) const {
  const NodeId* const columns = matrix_.column_indices.data();
  const double* const values = matrix_.values.data();
  const double* const inverse = matrix_.inverse_out_weight.data();
  return gather<double>(memory_, stream_, links, [=] __device__(EdgeIndex link) {
    return values != nullptr ? values[link] : inverse[columns[link]];
  });
}
std::vector<double> DeviceSampler::inverse_out_weights(const std::vector<NodeId>& nodes) const {
  const double* const inverse = matrix_.inverse_out_weight.data();
  return gather<double>(memory_, stream_, nodes,
                        [=] __device__(NodeId node) { return inverse[node]; });
}

}  // namespace pagerank::gpu
