// The L1 norm by NVIDIA's linear algebra library: BLAS calls it asum. One call and no kernel of
// ours; in exchange, the library decides how it adds floats up, so the last digits may differ from
// ours.
//
// The library is loaded when it is first asked for: with what it needs it takes 600 MB of files and
// a quarter of a gigabyte of memory, which no other benchmark should pay.
#include <cublas_v2.h>

#include <string>
#include <type_traits>

#include "gpu/cuda_handles.cuh"
#include "gpu/pagerank.hpp"
#include "gpu/reduction.cuh"
#include "gpu/shared_library.hpp"

namespace pagerank::gpu {
namespace {

/// The library's functions; it stays loaded to the end of the program.
class Cublas {
 public:
  /// Throws KernelRefused where the library cannot be loaded.
  static const Cublas& get() {
    static const Cublas cublas;
    return cublas;
  }

  decltype(&cublasCreate) create;
  decltype(&cublasDestroy) destroy;
  decltype(&cublasSetStream) set_stream;
  decltype(&cublasSetPointerMode) set_pointer_mode;
  decltype(&cublasGetStatusString) status_string;
  // The functions that end in _64 take lengths beyond 2^31 - 1.
  decltype(&cublasSasum_64) sasum;
  decltype(&cublasDasum_64) dasum;

  void check(cublasStatus_t status, const char* call) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const std::string message = std::string(call) + ": " + status_string(status);
    if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
    throw CudaError(message);
  }

 private:
  Cublas() : library_("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)) {
    // The names with _v2 are what the header's macros stand for.
    library_.find(create, "cublasCreate_v2");
    library_.find(destroy, "cublasDestroy_v2");
    library_.find(set_stream, "cublasSetStream_v2");
    library_.find(set_pointer_mode, "cublasSetPointerMode_v2");
    library_.find(status_string, "cublasGetStatusString");
    library_.find(sasum, "cublasSasum_v2_64");
    library_.find(dasum, "cublasDasum_v2_64");
  }

  SharedLibrary library_;
};

template <class T>
class CublasReduction final : public Reduction<T> {
 public:
  explicit CublasReduction(std::uint64_t length) : length_(static_cast<std::int64_t>(length)) {
    cublas_.check(cublas_.create(&handle_), "cublasCreate");
    // The result goes to device memory; to the host's, the default, each call would wait for it.
    cublas_.check(cublas_.set_pointer_mode(handle_, CUBLAS_POINTER_MODE_DEVICE),
                  "cublasSetPointerMode");
  }
  ~CublasReduction() override { cublas_.destroy(handle_); }

  void reduce(const T* x, T* result, cudaStream_t stream) override {
    cublas_.check(cublas_.set_stream(handle_, stream), "cublasSetStream");
    if constexpr (std::is_same_v<T, double>) {
      cublas_.check(cublas_.dasum(handle_, length_, x, 1, result), "cublasDasum");
    } else {
      cublas_.check(cublas_.sasum(handle_, length_, x, 1, result), "cublasSasum");
    }
    // The stream may end before the handle does.
    cublas_.check(cublas_.set_stream(handle_, nullptr), "cublasSetStream");
  }

 private:
  const Cublas& cublas_ = Cublas::get();
  std::int64_t length_;
  cublasHandle_t handle_ = nullptr;
};

template <class T>
std::unique_ptr<Reduction<T>> make(std::uint64_t length, cudaStream_t) {
  return std::make_unique<CublasReduction<T>>(length);
}

}  // namespace

extern const ReductionKernel reduce_cublas;
const ReductionKernel reduce_cublas{.name = "cublas",
                                    .lesson = "NVIDIA's library, asum: the baseline",
                                    .make_float = make<float>,
                                    .make_double = make<double>,
                                    .wide_sums = false};

}  // namespace pagerank::gpu
