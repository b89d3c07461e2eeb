#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"
#include "core/types.hpp"
#include "gpu/blocked_shape.hpp"
#include "gpu/device_traits.hpp"

/// Which SpMV kernel is worth its preparation. Plain C++: the same choice, or the same doubt, with
/// and without a GPU.
namespace pagerank::gpu {

/// What is known of a graph after a look at some of its links: the same for the same graph.
struct GraphShape {
  std::uint64_t nodes = 0;
  EdgeIndex links = 0;
  bool weighted = false;

  /// Of neighbouring links, how many different sectors of x (32 bytes) each asks for: 1 where they
  /// lead anywhere, less where they stay near or share hubs.
  double sectors_per_link = 1;

  /// Runs of links from one window to one row, per link (spmv_blocked.cu), in the better of the
  /// orders that `blocked` may take the nodes in.
  double runs_per_link = 1;

  /// Of the nodes, how many neither link nor are linked to.
  double isolated = 0;

  /// What an iteration leaves of the change, apart from alpha; an estimate.
  double mixing = 1;
};

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

/// Some rows, such that each link of the matrix counts alike: where their links lead, of long rows
/// some of them, enough to see nearly all windows that they fall into.
struct RowSample {
  std::vector<std::uint64_t> begins;  ///< Each row's first in `links`; rows + 1.
  std::vector<EdgeIndex> links;
  std::vector<NodeId> columns;
  std::vector<EdgeIndex> lengths;  ///< Of the rows in the matrix.

  static constexpr std::size_t usual_rows = 256;
  [[nodiscard]] static std::size_t most_columns(std::uint64_t nodes);  ///< Of a row.

  /// The windows of `window_size` that links of a row fall into, per link, `places` being those of
  /// the columns in an order of all `nodes`.
  [[nodiscard]] double runs_per_link(const std::vector<NodeId>& places, std::uint64_t nodes,
                                     std::uint32_t window_size) const;
  /// The same, to be expected where links lead to any node alike.
  [[nodiscard]] double runs_per_random_link(std::uint64_t nodes, std::uint32_t window_size) const;
};
/// So many rows at most, evenly apart by links.
[[nodiscard]] RowSample sample_rows(const MatrixSampler& matrix,
                                    std::size_t most_rows = RowSample::usual_rows);

/// `blocked` takes the nodes in another order if that leaves less than so much of the runs.
inline constexpr double worth_renumbering = 0.8;

/// `value_bytes`: of an element of x; windows are as large as that device has room for.
[[nodiscard]] GraphShape measure_shape(const MatrixSampler& matrix, std::size_t value_bytes,
                                       const SharedMemory& shared_memory = {});
[[nodiscard]] inline GraphShape measure_shape(const TransitionMatrix& matrix,
                                              std::size_t value_bytes) {
  return measure_shape(HostSampler(matrix), value_bytes);
}

/// Seconds on an H100 with memory of that bandwidth; devices that differ in more differ in all of
/// them alike, about. An H200 is such a one. (Measured on these two alone.)
struct KernelCost {
  double prepare = 0;  ///< What is left when the links have arrived.
  double iteration = 0;
};
[[nodiscard]] KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes,
                                          double memory_bandwidth = h100_memory_bandwidth);
[[nodiscard]] KernelCost cost_of_blocked(const GraphShape& shape, std::size_t value_bytes,
                                         double memory_bandwidth = h100_memory_bandwidth);
/// The same, of which preparation begins when the links have been there for long, beside iterations
/// (of which KernelChoice::beside).
[[nodiscard]] KernelCost cost_of_late_blocked(const GraphShape& shape, std::size_t value_bytes,
                                              double memory_bandwidth = h100_memory_bandwidth);
/// The same where what can be done while links arrive has been done.
[[nodiscard]] KernelCost cost_of_held_blocked(const GraphShape& shape, std::size_t value_bytes,
                                              double memory_bandwidth = h100_memory_bandwidth);

/// Iterations until the change promises the tolerance.
[[nodiscard]] double expected_iterations(const GraphShape& shape, double alpha, double tolerance);

/// Iterations that a solve has before it, of which these are the changes so far, if they go on
/// shrinking as they did at last, until `target`; 0 where one change alone tells nothing. The ratio
/// of one to the next, which grows while what rank drains from slowly comes to the fore and falls
/// where hubs were far off, is taken to go on changing if it is one of the first: once more as it
/// did, or, where it levels off, by what is to come if it goes on levelling off so (Aitken's
/// delta-squared process). Of what three changes promise not all is believed, half where their
/// ratio hardly grows: the next look comes soon, and a change of the kernel that does not pay costs
/// more.
[[nodiscard]] double iterations_left(std::span<const double> changes, double target, double alpha);

/// Iterations from one look at that to the next: few at first, for each comes late by as many as go
/// by until then, and half of what has been done later on, for what rank drains from slowly shows
/// late. The fourth change tells most of what three leave in doubt.
[[nodiscard]] inline std::uint32_t iterations_to_next_look(std::uint32_t done) {
  if (done == 0) return 3;
  return done == 3 ? 1 : std::max(2U, done / 2);
}

/// What the engine will be asked for.
struct ExpectedWork {
  double alpha = 0.85;
  double tolerance = 1e-8;
  std::uint32_t solves = 1;
  std::uint32_t max_iterations = SolveOptions{}.max_iterations;  ///< Of a solve.
};

struct KernelChoice {
  std::string_view kernel;  ///< "balanced" or "blocked"

  /// Of "balanced": so many iterations that are still to come, in all solves together, pay for
  /// preparing "blocked" after all. Infinite where there will not be so many however slowly the
  /// graph mixes; else the changes of a solve's first iterations tell whether there will.
  double payback = std::numeric_limits<double>::infinity();

  /// So many iterations go by beside that preparation.
  std::uint32_t beside = 0;

  /// What can be done of it while the links arrive, if they do, is to be done then. Payback and
  /// `beside` reckon with that also where they do not, so that a solve gives the same bits wherever
  /// its matrix was built.
  bool early = false;

  [[nodiscard]] bool doubtful() const { return payback < std::numeric_limits<double>::infinity(); }
};

/// Smaller graphs are done before their shape is known.
inline constexpr EdgeIndex least_links_to_look_at = EdgeIndex{1} << 20;

/// Whichever takes less time for that work, preparation included, on such a device.
[[nodiscard]] KernelChoice choose_kernel(const MatrixSampler& matrix, Precision precision,
                                         const ExpectedWork& work, const DeviceTraits& device = {});
[[nodiscard]] inline KernelChoice choose_kernel(const TransitionMatrix& matrix, Precision precision,
                                                const ExpectedWork& work) {
  return choose_kernel(HostSampler(matrix), precision, work);
}

}  // namespace pagerank::gpu
