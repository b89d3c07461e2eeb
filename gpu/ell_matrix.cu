#include "gpu/ell_matrix.cuh"

namespace pagerank::gpu {
namespace {

constexpr unsigned block_size = 256;

template <class T>
__global__ void fill(CsrView<T> matrix, unsigned width, NodeId* column_indices, T* values) {
  const std::uint64_t row = global_thread_index();
  if (row >= matrix.rows) return;
  const EdgeIndex begin = matrix.row_offsets[row];
  const EdgeIndex length = matrix.row_offsets[row + 1] - begin;
  for (unsigned j = 0; j < width; ++j) {
    const std::uint64_t place = j * matrix.rows + row;
    column_indices[place] = j < length ? matrix.column_indices[begin + j] : ell_padding;
    if (values != nullptr) values[place] = j < length ? matrix.values[begin + j] : T(0);
  }
}

template <class T>
__global__ void multiply_ell(EllView<T> matrix, const T* x, T* y) {
  const std::uint64_t row = global_thread_index();
  if (row >= matrix.rows) return;
  RowSum<T> sum{};
  for (unsigned j = 0; j < matrix.width; ++j) {
    const std::uint64_t place = j * matrix.rows + row;
    const NodeId column = matrix.column_indices[place];
    if (column == ell_padding) break;
    sum.add(matrix.values != nullptr ? matrix.values[place] * x[column] : x[column]);
  }
  y[row] = static_cast<T>(sum.value());
}

}  // namespace

template <class T>
EllMatrix<T>::EllMatrix(CsrView<T> matrix, unsigned width, cudaStream_t stream)
    : rows_(matrix.rows),
      width_(width),
      column_indices_(matrix.rows * width),
      values_(matrix.values != nullptr ? matrix.rows * width : 0),
      weighted_(matrix.values != nullptr) {
  fill<<<blocks_for(rows_, block_size), block_size, 0, stream>>>(
      matrix, width, column_indices_.data(), values_.data());
  PAGERANK_CUDA_LAUNCHED(fill);
}

template <class T>
void EllMatrix<T>::multiply(const T* x, T* y, cudaStream_t stream) const {
  const EllView<T> view{rows_, width_, column_indices_.data(),
                        weighted_ ? values_.data() : nullptr};
  multiply_ell<<<blocks_for(rows_, block_size), block_size, 0, stream>>>(view, x, y);
  PAGERANK_CUDA_LAUNCHED(multiply_ell);
}

template class EllMatrix<float>;
template class EllMatrix<double>;

}  // namespace pagerank::gpu
