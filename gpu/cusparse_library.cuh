#pragma once

#include <cusparse.h>

#include <memory>
#include <type_traits>

#include "gpu/cuda_handles.cuh"
#include "gpu/shared_library.hpp"

namespace pagerank::gpu {

/// What we call of NVIDIA's library of sparse matrices. It is opened when a kernel first asks for
/// it: with what it needs it takes 260 MB of files, and opening it 13 ms and 35 MB of memory.
class Cusparse {
 public:
  /// Throws KernelRefused where the library cannot be loaded.
  static const Cusparse& get();

  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseCreateConstCsr) create_csr;
  decltype(&cusparseDestroySpMat) destroy_matrix;
  decltype(&cusparseCreateDnVec) create_vector;
  decltype(&cusparseCreateConstDnVec) create_const_vector;
  decltype(&cusparseDestroyDnVec) destroy_vector;
  decltype(&cusparseSpMV_bufferSize) spmv_buffer_size;
  decltype(&cusparseSpMV_preprocess) spmv_preprocess;
  decltype(&cusparseSpMV) spmv;
  decltype(&cusparseGetErrorString) error_string;

  /// Of what a call returned. Throws CudaError, or OutOfMemory, naming the call.
  void check(cusparseStatus_t status, const char* call) const;

 private:
  Cusparse();
  SharedLibrary library_;
};

/// Owners of the library's objects.
struct CusparseDestroy {
  void operator()(cusparseHandle_t handle) const noexcept { Cusparse::get().destroy(handle); }
  void operator()(cusparseConstSpMatDescr_t matrix) const noexcept {
    Cusparse::get().destroy_matrix(matrix);
  }
  void operator()(cusparseConstDnVecDescr_t vector) const noexcept {
    Cusparse::get().destroy_vector(vector);
  }
};
template <class Object>
using CusparseOwner = std::unique_ptr<std::remove_pointer_t<Object>, CusparseDestroy>;

}  // namespace pagerank::gpu
