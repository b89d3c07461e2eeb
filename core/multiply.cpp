#include "core/multiply.hpp"

#include "core/compensated_sum.hpp"
#include "core/parallel.hpp"

namespace pagerank {

std::vector<double> multiply(const CsrMatrix& matrix, std::span<const double> x, int threads) {
  std::vector<double> y(matrix.row_count());
  const bool weighted = !matrix.values.empty();
  parallel_for_blocks(
      matrix.row_count(), thread_count(threads), [&](std::size_t, NodeId begin, NodeId end) {
        for (NodeId row = begin; row < end; ++row) {
          CompensatedSum sum;
          for (EdgeIndex k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const double gathered = x[matrix.column_indices[k]];
            sum.add(weighted ? matrix.values[k] * gathered : gathered);
          }
          y[row] = sum.value();
        }
      });
  return y;
}

}  // namespace pagerank
