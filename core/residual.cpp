#include <cmath>

#include "core/compensated_sum.hpp"
#include "core/convergence.hpp"
#include "core/parallel.hpp"

namespace pagerank {

double residual_l1(const TransitionMatrix& matrix, const Problem& problem,
                   std::span<const double> x, int threads) {
  threads = thread_count(threads);
  const CsrMatrix& links = matrix.in_links;
  const NodeId n = matrix.node_count();
  CompensatedSum dangling_mass;
  for (const NodeId node : matrix.dangling) dangling_mass.add(x[node]);
  const auto more = static_cast<double>(matrix.more_unlinked);
  if (more > 0) dangling_mass.add(more * x.back());
  const double base = (problem.alpha * dangling_mass.value() + (1 - problem.alpha)) /
                      static_cast<double>(matrix.graph_node_count());
  const double of_more = more > 0 ? more * std::abs(base - x.back()) : 0;
  return of_more + parallel_sum_blocks<double>(n, threads, [&](NodeId begin, NodeId end) {
           double residual = 0;
           for (NodeId row = begin; row < end; ++row) {
             CompensatedSum y;
             for (EdgeIndex k = links.row_offsets[row]; k < links.row_offsets[row + 1]; ++k) {
               const NodeId source = links.column_indices[k];
               const double weight =
                   matrix.weighted() ? links.values[k] : matrix.inverse_out_weight[source];
               y.add(weight * x[source]);
             }
             residual += std::abs(problem.alpha * y.value() + base - x[row]);
           }
           return residual;
         });
}

}  // namespace pagerank
