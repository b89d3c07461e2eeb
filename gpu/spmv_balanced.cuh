#pragma once

#include <memory>

#include "gpu/spmv.cuh"

namespace pagerank::gpu {

/// The kernel `balanced` in double with row sums compensated (row_sum.cuh), for certificates: the
/// relative error of a row's sum of terms that are not negative is a few units roundoff, whatever
/// its length. The matrix outlives what is returned; its links may still be on their way.
[[nodiscard]] std::unique_ptr<Spmv<double>> make_compensated_spmv(
    const CsrView<double>& matrix, const std::optional<ScratchMemory>& reserved,
    cudaStream_t stream);

/// Device bytes that it holds.
[[nodiscard]] std::size_t compensated_spmv_bytes(std::uint64_t nodes, EdgeIndex links);

}  // namespace pagerank::gpu
