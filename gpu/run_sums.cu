#include "gpu/run_sums.cuh"

#include <thrust/iterator/counting_iterator.h>

#include "core/piecewise_sum.hpp"

namespace pagerank::gpu {
namespace {

constexpr std::uint64_t piece_terms = PiecewiseSum::piece_terms;

/// Compensated, in order.
__device__ double sum_of(const double* terms, std::uint64_t count) {
  constexpr unsigned at_once = 8;  // so that loads do not wait for additions
  CompensatedSum sum;
  std::uint64_t i = 0;
  for (; i + at_once <= count; i += at_once) {
    double next[at_once];
    for (unsigned j = 0; j < at_once; ++j) next[j] = terms[i + j];
    for (unsigned j = 0; j < at_once; ++j) sum += next[j];
  }
  for (; i < count; ++i) sum += terms[i];
  return sum.value();
}

/// The runs of more than a piece: of each piece its sum, and of these the run's.
void sum_long_runs(const double* weights, const std::uint64_t* begins, const std::uint64_t* run_of,
                   std::uint64_t count, double* sums, DeviceAlgorithms& algorithms) {
  DeviceBuffer<std::uint64_t> first_pieces(count + 1, algorithms.scratch());
  std::uint64_t* const first_piece = first_pieces.data();
  queue_for_each(
      count + 1,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t terms = i < count ? begins[run_of[i] + 1] - begins[run_of[i]] : 0;
        first_piece[i] = (terms + piece_terms - 1) / piece_terms;
      },
      algorithms.stream());
  algorithms.exclusive_sum(first_piece, first_piece, count + 1);
  const std::uint64_t pieces = algorithms.fetch(first_piece + count);
  DeviceBuffer<double> piece_sums(pieces, algorithms.scratch());
  double* const piece_sum = piece_sums.data();
  queue_for_each(
      pieces,
      [=] __device__(std::uint64_t piece) {
        const std::uint64_t i = upper_bound(first_piece, count, piece) - 1;
        const std::uint64_t begin = begins[run_of[i]] + (piece - first_piece[i]) * piece_terms;
        const std::uint64_t rest = begins[run_of[i] + 1] - begin;
        piece_sum[piece] = sum_of(weights + begin, rest < piece_terms ? rest : piece_terms);
      },
      algorithms.stream());
  queue_for_each(
      count,
      [=] __device__(std::uint64_t i) {
        const std::uint64_t first = first_piece[i];
        sums[run_of[i]] = sum_of(piece_sum + first, first_piece[i + 1] - first);
      },
      algorithms.stream());
}

}  // namespace

void sum_runs(const double* weights, const std::uint64_t* begins, std::uint64_t runs,
              std::uint64_t terms, double* sums, DeviceAlgorithms& algorithms) {
  const auto is_long = [=] __device__(std::uint64_t run) {
    return begins[run + 1] - begins[run] > piece_terms;
  };
  queue_for_each(
      runs,
      [=] __device__(std::uint64_t run) {
        if (is_long(run)) return;
        sums[run] = sum_of(weights + begins[run], begins[run + 1] - begins[run]);
      },
      algorithms.stream());
  const std::uint64_t most_long = terms / piece_terms;
  if (most_long == 0) return;
  DeviceBuffer<std::uint64_t> long_runs(most_long, algorithms.scratch());
  const std::uint64_t count = algorithms.select(thrust::counting_iterator<std::uint64_t>(0),
                                                long_runs.data(), runs, is_long);
  if (count > 0) sum_long_runs(weights, begins, long_runs.data(), count, sums, algorithms);
}

}  // namespace pagerank::gpu
