#pragma once

#include <memory>
#include <string>

#include "core/blocked_matrix.hpp"
#include "core/cpu_layout.hpp"
#include "core/in_link_sums.hpp"
#include "core/pagerank.hpp"
#include "core/thread_team.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank {

struct CpuEngineOptions {
  int threads = 0;  ///< 0: as many as OpenMP offers.
  Precision precision = Precision::float64;
  CpuLayout layout = CpuLayout::automatic;
  /// Of all solves together: `automatic` makes a layout that pays within so many.
  /// least_usual_iterations() is for one solve.
  double expected_iterations = 10;
  CpuSizes sizes;

  [[nodiscard]] LayoutWish layout_wish() const {
    return {layout, expected_iterations, precision != Precision::float64, sizes.blocked};
  }
};

/// What computes with so many threads, for people: "CPU, 8 threads".
[[nodiscard]] std::string cpu_device(int threads);

/// Power iteration on the CPU's cores. Scores, iterations and bounds are the same bits for any
/// number of threads.
class CpuEngine final : public Engine {
 public:
  /// Shares the matrix's arrays. If it is given the only matrix that has them (std::move), and lays
  /// links out anew, it frees them or uses their memory again: up to 4 bytes a link less, 12 of a
  /// graph with weights in double. (Float iterations need weights in double too, for the residual.)
  /// Throws std::invalid_argument for a graph without nodes.
  explicit CpuEngine(TransitionMatrix matrix, CpuEngineOptions options = {});
  /// Of links that are laid out, whatever `layout` says; best with the precision that they were
  /// laid out for. Throws the same.
  explicit CpuEngine(BlockedMatrix matrix, CpuEngineOptions options = {});
  ~CpuEngine() override;

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) override;
  [[nodiscard]] std::string device() const override;
  [[nodiscard]] std::uint64_t bytes_per_iteration() const override;

  /// That of its iterations.
  [[nodiscard]] CpuLayout layout() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pagerank
