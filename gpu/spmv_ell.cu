// ELLPACK: every row padded to the longest, stored column by column, a thread a row. Reads are
// perfectly coalesced with nothing to add up between threads: the best there is for rows of equal
// length. One long row pads all others, so graphs that would grow too much are refused.
// After N. Bell, M. Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA (2008).
#include <algorithm>
#include <string>

#include "gpu/ell_matrix.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/spmv.cuh"

namespace pagerank::gpu {
namespace {

/// The longest row may have so many times the links of the mean row, and so many more.
constexpr std::uint64_t most_padding = 4;

/// The longest row. Throws KernelRefused.
unsigned ell_width(std::span<const EdgeIndex> row_offsets) {
  EdgeIndex longest = 0;
  for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row) {
    longest = std::max(longest, row_offsets[row + 1] - row_offsets[row]);
  }
  const EdgeIndex links = row_offsets.back();
  const std::uint64_t rows = row_offsets.size() - 1;
  if (longest > most_padding * links / rows + most_padding) {
    throw KernelRefused("kernel ell: the longest row has " + std::to_string(longest) +
                        " links where the mean is " + std::to_string(links / rows) +
                        "; more than " + std::to_string(most_padding) + " times the mean and " +
                        std::to_string(most_padding) + " is too much padding (see kernel hybrid)");
  }
  return static_cast<unsigned>(longest);
}

std::size_t extra_bytes(const MatrixFacts& matrix, std::size_t value_bytes) {
  return EllMatrix<float>::bytes(matrix.node_count(), ell_width(matrix.row_offsets()),
                                 matrix.weighted(), value_bytes);
}

template <class T>
class EllSpmv final : public Spmv<T> {
 public:
  EllSpmv(const DeviceGraph<T>& graph, cudaStream_t stream)
      : matrix_(graph.in_links(), ell_width(graph.download_row_offsets()), stream) {}

  void multiply(const T* x, T* y, cudaStream_t stream) override { matrix_.multiply(x, y, stream); }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override {
    return matrix_.bytes_to_multiply();
  }

 private:
  EllMatrix<T> matrix_;
};

template <class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  return std::make_unique<EllSpmv<T>>(graph, stream);
}

}  // namespace

extern const SpmvKernel spmv_ell;
const SpmvKernel spmv_ell{"ell", "ELLPACK: rows padded to the longest, stored column by column",
                          extra_bytes, make<float>, make<double>};

}  // namespace pagerank::gpu
