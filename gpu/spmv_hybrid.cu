// ELLPACK for the beginning of every row, and the rest of the long rows apart, a warp each: what
// ELLPACK does well without what it cannot do. The width follows Bell and Garland: as wide as a
// third of the rows fills.
// After N. Bell, M. Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA (2008).
#include <algorithm>
#include <functional>

#include "gpu/ell_matrix.cuh"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

/// The largest width that at least max(4096, rows / 3) rows fill; 0 where there are none.
unsigned hybrid_width(std::span<const EdgeIndex> row_offsets) {
  const std::size_t rows = row_offsets.size() - 1;
  const std::size_t enough = std::max<std::size_t>(4096, rows / 3);
  if (rows < enough) return 0;
  std::vector<EdgeIndex> lengths(rows);
  for (std::size_t row = 0; row < rows; ++row)
    lengths[row] = row_offsets[row + 1] - row_offsets[row];
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(enough - 1);
  std::nth_element(lengths.begin(), at, lengths.end(), std::greater<>());
  return static_cast<unsigned>(std::min<EdgeIndex>(*at, 0xffffffff));
}

std::vector<NodeId> rows_longer_than(unsigned width, std::span<const EdgeIndex> row_offsets) {
  std::vector<NodeId> rows;
  for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
    if (row_offsets[row + 1] - row_offsets[row] > width) rows.push_back(static_cast<NodeId>(row));
  }
  return rows;
}

std::size_t extra_bytes(const MatrixFacts& matrix, std::size_t value_bytes) {
  const std::span<const EdgeIndex> row_offsets = matrix.row_offsets();
  const unsigned width = hybrid_width(row_offsets);
  return EllMatrix<float>::bytes(matrix.node_count(), width, matrix.weighted(), value_bytes) +
         rows_longer_than(width, row_offsets).size() * sizeof(NodeId);
}

/// y += the elements beyond the first `width` of the rows in `long_rows`.
template <class T>
__global__ void add_long_rows(CsrView<T> matrix, unsigned width, const NodeId* long_rows,
                              std::uint64_t count, const T* x, T* y) {
  const std::uint64_t i = global_thread_index() / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  if (i >= count) return;  // the whole warp leaves together
  const NodeId row = long_rows[i];
  RowSum<T> sum{};
  const EdgeIndex row_end = matrix.row_offsets[row + 1];
  for (EdgeIndex k = matrix.row_offsets[row] + width + lane; k < row_end; k += warp_size) {
    sum.add(matrix.product(k, x));
  }
  sum.add_over_warp();
  if (lane == 0) y[row] = static_cast<T>(y[row] + sum.value());
}

template <class T>
class HybridSpmv final : public Spmv<T> {
 public:
  HybridSpmv(CsrView<T> matrix, std::span<const EdgeIndex> row_offsets, cudaStream_t stream)
      : matrix_(matrix),
        width_(hybrid_width(row_offsets)),
        beginnings_(matrix, width_, stream),
        long_rows_(rows_longer_than(width_, row_offsets)) {
    long_rows_bytes_ = long_rows_.size() * (sizeof(NodeId) + 2 * sizeof(EdgeIndex) + 2 * sizeof(T));
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
      const EdgeIndex length = row_offsets[row + 1] - row_offsets[row];
      if (length > width_) {
        long_rows_bytes_ +=
            (length - width_) * (sizeof(NodeId) + (matrix.values != nullptr ? sizeof(T) : 0));
      }
    }
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    beginnings_.multiply(x, y, stream);
    if (long_rows_.size() == 0) return;
    constexpr unsigned block_size = 256;
    const unsigned blocks = blocks_for(long_rows_.size() * warp_size, block_size);
    add_long_rows<<<blocks, block_size, 0, stream>>>(matrix_, width_, long_rows_.data(),
                                                     long_rows_.size(), x, y);
    PAGERANK_CUDA_LAUNCHED(add_long_rows);
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return beginnings_.bytes_to_multiply() + long_rows_bytes_;
  }

 private:
  CsrView<T> matrix_;
  unsigned width_;
  EllMatrix<T> beginnings_;
  DeviceBuffer<NodeId> long_rows_;
  std::uint64_t long_rows_bytes_ = 0;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  const std::vector<EdgeIndex> row_offsets = graph.download_row_offsets();
  return std::make_unique<HybridSpmv<T>>(graph.in_links(), row_offsets, stream);
}

}  // namespace

extern const SpmvKernel spmv_hybrid;
const SpmvKernel spmv_hybrid{"hybrid", "ELLPACK for the beginning of rows, long rows' rest apart",
                             extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
