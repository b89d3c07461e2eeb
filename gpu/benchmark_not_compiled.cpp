// The twin of the benchmarks' CUDA sources for builds without the toolkit.
#include "gpu/benchmark.hpp"

namespace pagerank::gpu {

class SpmvBenchmark::Impl {};
class ReductionBenchmark::Impl {};
class BusBenchmark::Impl {};

Ceilings measure_ceilings(int, Precision) {
  throw NotCompiled();
}
std::vector<Kernel> reductions() {
  return {};
}

SpmvBenchmark::SpmvBenchmark(const TransitionMatrix&, int, Precision, bool) {
  throw NotCompiled();
}
SpmvBenchmark::~SpmvBenchmark() = default;
Timing SpmvBenchmark::run(std::string_view, std::span<const double>, std::vector<double>&,
                          const TimingOptions&) {
  throw NotCompiled();
}

ReductionBenchmark::ReductionBenchmark(std::span<const double>, int, Precision) {
  throw NotCompiled();
}
ReductionBenchmark::~ReductionBenchmark() = default;
Timing ReductionBenchmark::run(std::string_view, double&, const TimingOptions&) {
  throw NotCompiled();
}

BusBenchmark::BusBenchmark(int, std::size_t) {
  throw NotCompiled();
}
BusBenchmark::~BusBenchmark() = default;
double BusBenchmark::copy(std::size_t) {
  throw NotCompiled();
}

}  // namespace pagerank::gpu
