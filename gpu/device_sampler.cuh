#pragma once

#include "gpu/cuda_handles.cuh"
#include "gpu/device_matrix.cuh"
#include "gpu/matrix_sampler.hpp"

namespace pagerank::gpu {

/// Of a matrix on the current device; what is asked and found goes through `memory`. Both outlive
/// it. For one thread.
class DeviceSampler final : public MatrixSampler {
 public:
  DeviceSampler(const DeviceTransitionMatrix& matrix, ExchangeMemory& memory)
      : matrix_(matrix), memory_(memory) {}

  [[nodiscard]] std::uint64_t node_count() const override { return matrix_.node_count(); }
  [[nodiscard]] EdgeIndex link_count() const override { return matrix_.link_count(); }
  [[nodiscard]] bool weighted() const override { return matrix_.weighted(); }
  [[nodiscard]] std::vector<Row> rows_of(const std::vector<EdgeIndex>& links) const override;
  [[nodiscard]] std::vector<Row> rows(const std::vector<NodeId>& nodes) const override;
  [[nodiscard]] std::vector<NodeId> columns(const std::vector<EdgeIndex>& links) const override;
  [[nodiscard]] std::vector<double> elements(const std::vector<EdgeIndex>& links) const override;
  [[nodiscard]] std::vector<double> inverse_out_weights(
      const std::vector<NodeId>& nodes) const override;

 private:
  const DeviceTransitionMatrix& matrix_;
  ExchangeMemory& memory_;
  Stream stream_{Stream::Priority::first};  ///< Who asks waits.
};

}  // namespace pagerank::gpu
