#pragma once

#include <cstdint>
#include <vector>

#include "core/transition_matrix.hpp"
#include "core/types.hpp"

namespace pagerank::gpu {

/// Looks at parts of a matrix, wherever it lies: many at once, for each look may be a trip to the
/// device.
class MatrixSampler {
 public:
  MatrixSampler() = default;
  MatrixSampler(const MatrixSampler&) = delete;
  MatrixSampler& operator=(const MatrixSampler&) = delete;
  virtual ~MatrixSampler() = default;

  [[nodiscard]] virtual std::uint64_t node_count() const = 0;
  [[nodiscard]] virtual EdgeIndex link_count() const = 0;
  [[nodiscard]] virtual bool weighted() const = 0;

  struct Row {
    EdgeIndex begin, end;
    NodeId node;
  };
  /// The links of the rows that these links lie in.
  [[nodiscard]] virtual std::vector<Row> rows_of(const std::vector<EdgeIndex>& links) const = 0;
  /// The links to these nodes.
  [[nodiscard]] virtual std::vector<Row> rows(const std::vector<NodeId>& nodes) const = 0;
  [[nodiscard]] virtual std::vector<NodeId> columns(const std::vector<EdgeIndex>& links) const = 0;
  /// Of B: a link's weight over the sum of its source's, without weights 1 / out-degree.
  [[nodiscard]] virtual std::vector<double> elements(const std::vector<EdgeIndex>& links) const = 0;
  [[nodiscard]] virtual std::vector<double> inverse_out_weights(
      const std::vector<NodeId>& nodes) const = 0;
};

/// Of a matrix in main memory, which outlives it.
class HostSampler final : public MatrixSampler {
 public:
  explicit HostSampler(const TransitionMatrix& matrix) : matrix_(matrix) {}

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
  const TransitionMatrix& matrix_;
};

}  // namespace pagerank::gpu
