// NVIDIA's library: the baseline that our kernels are measured against. It needs what they do
// without: a values array for unweighted graphs too, and signed offsets and columns of one width.
#include <algorithm>
#include <limits>

#include "gpu/cusparse_library.cuh"
#include "gpu/spmv.cuh"
#include "gpu/zero_spmv.cuh"

namespace pagerank::gpu {
namespace {

/// to[i] = from[i], or 1 where `from` is null.
template <class To, class From>
__global__ void convert(const From* from, To* to, std::uint64_t count) {
  const std::uint64_t i = global_thread_index();
  if (i < count) to[i] = from != nullptr ? static_cast<To>(from[i]) : To(1);
}

template <class To, class From>
DeviceBuffer<To> converted(const From* from, std::uint64_t count, cudaStream_t stream) {
  DeviceBuffer<To> to(count);
  if (count == 0) return to;
  constexpr unsigned block_size = 256;
  convert<<<blocks_for(count, block_size), block_size, 0, stream>>>(from, to.data(), count);
  PAGERANK_CUDA_LAUNCHED(convert);
  return to;
}

bool fits_32_bits(std::uint64_t nodes, EdgeIndex links) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  return nodes <= most && links <= most;
}

std::size_t extra_bytes(const MatrixFacts& matrix, std::size_t value_bytes) {
  const std::size_t nodes = matrix.node_count();
  const std::size_t links = matrix.link_count();
  const std::size_t indices = fits_32_bits(nodes, links) ? (nodes + 1) * 4 : links * 8;
  const std::size_t ones = matrix.weighted() ? 0 : links * value_bytes;
  // The library's own buffer is not known before: by its measure about 4 bytes for each 512 links.
  return indices + ones + links / 64 + nodes * value_bytes;
}

template <class T, cusparseSpMVAlg_t algorithm>
class CusparseSpmv final : public Spmv<T> {
 public:
  CusparseSpmv(CsrView<T> matrix, cudaStream_t stream) {
    const EdgeIndex links = matrix.links;
    // Up to 2^31 - 1 links the columns serve as they are and the offsets are narrowed, beyond that
    // the offsets serve and the columns are widened. (The library of CUDA 13.0 fails with so many
    // links, by either algorithm, preprocessed or not.)
    const bool narrow = fits_32_bits(matrix.rows, links);
    const void* offsets = matrix.row_offsets;
    const void* columns = matrix.column_indices;
    const T* values = matrix.values;
    if (narrow) {
      offsets32_ = converted<std::int32_t>(matrix.row_offsets, matrix.rows + 1, stream);
      offsets = offsets32_.data();
    } else {
      columns64_ = converted<std::int64_t>(matrix.column_indices, links, stream);
      columns = columns64_.data();
    }
    if (values == nullptr) {
      ones_ = converted<T>(static_cast<const T*>(nullptr), links, stream);
      values = ones_.data();
    }

    cusparseHandle_t handle = nullptr;
    cusparse_.check(cusparse_.create(&handle), "cusparseCreate");
    handle_.reset(handle);
    cusparse_.check(cusparse_.set_stream(handle, stream), "cusparseSetStream");
    const cusparseIndexType_t index = narrow ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
    const auto n = static_cast<std::int64_t>(matrix.rows);
    // cuSPARSE refuses more elements than a matrix has places, which repeated links can make:
    // pretend to columns that no element names.
    columns_ = std::max(n, static_cast<std::int64_t>((links + matrix.rows - 1) / matrix.rows));
    cusparseConstSpMatDescr_t descriptor = nullptr;
    cusparse_.check(
        cusparse_.create_csr(&descriptor, n, columns_, static_cast<std::int64_t>(links), offsets,
                             columns, values, index, index, CUSPARSE_INDEX_BASE_ZERO, type),
        "cusparseCreateConstCsr");
    matrix_.reset(descriptor);

    // The size of the buffer and the preprocessing depend on the matrix, not on these vectors.
    DeviceBuffer<T> any(matrix.rows);
    const auto x = make_x(any.data(), columns_);
    const auto y = make_y(any.data(), n);
    std::size_t bytes = 0;
    cusparse_.check(
        cusparse_.spmv_buffer_size(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_.get(),
                                   x.get(), &zero, y.get(), type, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
    buffer_ = DeviceBuffer<char>(bytes);
    const cusparseStatus_t status =
        cusparse_.spmv_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_.get(),
                                  x.get(), &zero, y.get(), type, algorithm, buffer_.data());
    if (status == CUSPARSE_STATUS_INTERNAL_ERROR && !fits_32_bits(0, links)) {
      throw KernelRefused("cuSPARSE fails with " + std::to_string(links) +
                          " links, more than 2^31 - 1");
    }
    cusparse_.check(status, "cusparseSpMV_preprocess");
    rows_ = n;
    const std::uint64_t index_bytes = narrow ? sizeof(std::int32_t) : sizeof(std::int64_t);
    bytes_to_multiply_ =
        (matrix.rows + 1 + links) * index_bytes + (links + 2 * matrix.rows) * sizeof(T);
    PAGERANK_CUDA(cudaStreamSynchronize(stream));  // before `any` goes
  }

  void multiply(const T* x, T* y, cudaStream_t stream) override {
    cusparse_.check(cusparse_.set_stream(handle_.get(), stream), "cusparseSetStream");
    const auto x_vector = make_x(x, columns_);
    const auto y_vector = make_y(y, rows_);
    cusparse_.check(
        cusparse_.spmv(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_.get(),
                       x_vector.get(), &zero, y_vector.get(), type, algorithm, buffer_.data()),
        "cusparseSpMV");
    // The stream may end before the handle does.
    cusparse_.check(cusparse_.set_stream(handle_.get(), nullptr), "cusparseSetStream");
  }

  [[nodiscard]] std::uint64_t bytes_to_multiply() const override { return bytes_to_multiply_; }

 private:
  static constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr T one = 1, zero = 0;

  [[nodiscard]] CusparseOwner<cusparseConstDnVecDescr_t> make_x(const T* x,
                                                                std::int64_t size) const {
    cusparseConstDnVecDescr_t vector = nullptr;
    cusparse_.check(cusparse_.create_const_vector(&vector, size, x, type),
                    "cusparseCreateConstDnVec");
    return CusparseOwner<cusparseConstDnVecDescr_t>(vector);
  }
  [[nodiscard]] CusparseOwner<cusparseDnVecDescr_t> make_y(T* y, std::int64_t size) const {
    cusparseDnVecDescr_t vector = nullptr;
    cusparse_.check(cusparse_.create_vector(&vector, size, y, type), "cusparseCreateDnVec");
    return CusparseOwner<cusparseDnVecDescr_t>(vector);
  }

  const Cusparse& cusparse_ = Cusparse::get();
  DeviceBuffer<std::int32_t> offsets32_;
  DeviceBuffer<std::int64_t> columns64_;
  DeviceBuffer<T> ones_;
  DeviceBuffer<char> buffer_;
  CusparseOwner<cusparseHandle_t> handle_;
  CusparseOwner<cusparseConstSpMatDescr_t> matrix_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::uint64_t bytes_to_multiply_ = 0;
};

template <cusparseSpMVAlg_t algorithm, class T>
std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph, cudaStream_t stream) {
  if (graph.link_count() == 0) return std::make_unique<ZeroSpmv<T>>(graph.node_count());
  return std::make_unique<CusparseSpmv<T, algorithm>>(graph.in_links(), stream);
}

}  // namespace

extern const SpmvKernel spmv_cusparse, spmv_cusparse_alg1;
const SpmvKernel spmv_cusparse{.name = "cusparse",
                               .lesson = "NVIDIA's library, algorithm CSR_ALG2: the baseline",
                               .extra_bytes = extra_bytes,
                               .make_float = make<CUSPARSE_SPMV_CSR_ALG2, float>,
                               .make_double = make<CUSPARSE_SPMV_CSR_ALG2, double>,
                               .wide_sums = false,
                               .library = true};
// ALG1 may give different bits from run to run (cuSPARSE documentation of cusparseSpMV).
const SpmvKernel spmv_cusparse_alg1{
    .name = "cusparse-alg1",
    .lesson = "NVIDIA's library, algorithm CSR_ALG1: other bits on every run",
    .extra_bytes = extra_bytes,
    .make_float = make<CUSPARSE_SPMV_CSR_ALG1, float>,
    .make_double = make<CUSPARSE_SPMV_CSR_ALG1, double>,
    .same_bits = false,
    .wide_sums = false,
    .library = true};

}  // namespace pagerank::gpu
