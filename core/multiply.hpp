#pragma once

#include <span>
#include <vector>

#include "core/csr_matrix.hpp"

namespace pagerank {

/// y = A x in double with compensated sums, on `threads` threads (0: as many as OpenMP offers): the
/// reference that other multiplications are held against. x has an element a column.
[[nodiscard]] std::vector<double> multiply(const CsrMatrix& matrix, std::span<const double> x,
                                           int threads = 0);

}  // namespace pagerank
