#include <string>

#include "gpu/cusparse_library.cuh"
#include "gpu/pagerank.hpp"

namespace pagerank::gpu {

const Cusparse& Cusparse::get() {
  static const Cusparse cusparse;
  return cusparse;
}

Cusparse::Cusparse() : library_("libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR)) {
  library_.find(create, "cusparseCreate");
  library_.find(destroy, "cusparseDestroy");
  library_.find(set_stream, "cusparseSetStream");
  library_.find(create_csr, "cusparseCreateConstCsr");
  library_.find(destroy_matrix, "cusparseDestroySpMat");
  library_.find(create_vector, "cusparseCreateDnVec");
  library_.find(create_const_vector, "cusparseCreateConstDnVec");
  library_.find(destroy_vector, "cusparseDestroyDnVec");
  library_.find(spmv_buffer_size, "cusparseSpMV_bufferSize");
  library_.find(spmv_preprocess, "cusparseSpMV_preprocess");
  library_.find(spmv, "cusparseSpMV");
  library_.find(error_string, "cusparseGetErrorString");
}

void Cusparse::check(cusparseStatus_t status, const char* call) const {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string message = std::string(call) + ": " + error_string(status);
  if (status == CUSPARSE_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  throw CudaError(message);
}

}  // namespace pagerank::gpu
