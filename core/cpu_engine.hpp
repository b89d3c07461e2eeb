#pragma once

#include <memory>

#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank {

struct CpuEngineOptions {
  int threads = 0;                           ///< 0: as many as OpenMP offers.
  Precision precision = Precision::float64;  ///< Mixed: float64.
};

/// Power iteration on the CPU's cores. Scores, iterations and bounds are the same bits for any
/// number of threads.
class CpuEngine final : public Engine {
 public:
  /// Uses `matrix` in place: it must outlive the engine.
  explicit CpuEngine(const TransitionMatrix& matrix, CpuEngineOptions options = {});

  [[nodiscard]] Solution solve(const Problem& problem, const SolveOptions& options) override;
  [[nodiscard]] std::string device() const override;
  [[nodiscard]] std::uint64_t bytes_per_iteration() const override;

 private:
  const TransitionMatrix& matrix_;
  CpuEngineOptions options_;
};

}  // namespace pagerank
