#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/transition_matrix.hpp"
#include "gpu/device_matrix.cuh"

namespace pagerank::gpu {

/// What estimates of memory are made from: a matrix, in main memory or on the device. Of the latter
/// row offsets are fetched when someone asks. The matrix outlives this.
class MatrixFacts {
 public:
  MatrixFacts(const TransitionMatrix& matrix)  // NOLINT(google-explicit-*): it is that matrix
      : nodes_(matrix.node_count()),
        links_(matrix.link_count()),
        weighted_(matrix.weighted()),
        row_offsets_(matrix.in_links.row_offsets) {}
  MatrixFacts(const DeviceTransitionMatrix& matrix)  // NOLINT(google-explicit-*)
      : nodes_(matrix.node_count()),
        links_(matrix.link_count()),
        weighted_(matrix.weighted()),
        on_device_(&matrix.row_offsets) {}

  [[nodiscard]] std::uint64_t node_count() const { return nodes_; }
  [[nodiscard]] EdgeIndex link_count() const { return links_; }
  [[nodiscard]] bool weighted() const { return weighted_; }
  [[nodiscard]] std::span<const EdgeIndex> row_offsets() const {
    if (on_device_ == nullptr) return row_offsets_;
    if (fetched_.empty()) fetched_ = on_device_->download();
    return fetched_;
  }

 private:
  std::uint64_t nodes_;
  EdgeIndex links_;
  bool weighted_;
  std::span<const EdgeIndex> row_offsets_;
  const DeviceBuffer<EdgeIndex>* on_device_ = nullptr;
  mutable std::vector<EdgeIndex> fetched_;
};

}  // namespace pagerank::gpu
