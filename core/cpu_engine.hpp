#pragma once

#include <memory>

#include "core/in_link_sums.hpp"
#include "core/pagerank.hpp"
#include "core/thread_team.hpp"
#include "core/transition_matrix.hpp"

namespace pagerank {

struct CpuEngineOptions {
  int threads = 0;  ///< 0: as many as OpenMP offers.
  Precision precision = Precision::float64;
  CpuLayout layout = CpuLayout::automatic;
  CpuSizes sizes;
};

/// Power iteration on the CPU's cores. Scores, iterations and bounds are the same bits for any
/// number of threads.
class CpuEngine final : public Engine {
 public:
  /// Shares the matrix's arrays. Given the only matrix that has them (std::move), it uses their
  /// memory again, and needs 4 bytes a link less.
  explicit CpuEngine(TransitionMatrix matrix, CpuEngineOptions options = {});
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
