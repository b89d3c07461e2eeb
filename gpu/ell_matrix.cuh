#pragma once

#include <span>

#include "gpu/device_graph.cuh"
#include "gpu/row_sum.cuh"

namespace pagerank::gpu {

/// The first `width` elements of every row, padded to that and stored column by column: element j
/// of row i at j * rows + i. Neighbouring threads, a row each, read neighbouring elements.
template <class T>
struct EllView {
  std::uint64_t rows;
  unsigned width;
  const NodeId* column_indices;  ///< rows * width; ell_padding where a row is shorter.
  const T* values;               ///< Null: every element is 1.
};

inline constexpr NodeId ell_padding = 0xffffffff;

template <class T>
class EllMatrix {
 public:
  EllMatrix(CsrView<T> matrix, unsigned width, cudaStream_t stream);

  [[nodiscard]] static std::size_t bytes(std::uint64_t rows, unsigned width, bool weighted,
                                         std::size_t value_bytes) {
    return rows * width * (sizeof(NodeId) + (weighted ? value_bytes : 0));
  }

  /// y = A x for the elements that are here.
  void multiply(const T* x, T* y, cudaStream_t stream) const;

  /// All padded places, x and y once.
  [[nodiscard]] std::uint64_t bytes_to_multiply() const {
    return bytes(rows_, width_, weighted_, sizeof(T)) + 2 * rows_ * sizeof(T);
  }

 private:
  std::uint64_t rows_;
  unsigned width_;
  DeviceBuffer<NodeId> column_indices_;
  DeviceBuffer<T> values_;
  bool weighted_;
};

extern template class EllMatrix<float>;
extern template class EllMatrix<double>;

}  // namespace pagerank::gpu
