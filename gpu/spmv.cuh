#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "gpu/device_graph.cuh"
#include "gpu/matrix_facts.cuh"

namespace pagerank::gpu {

/// A sparse matrix-vector product, prepared for one graph.
template <class T>
class Spmv {
 public:
  Spmv() = default;
  Spmv(const Spmv&) = delete;
  Spmv& operator=(const Spmv&) = delete;
  virtual ~Spmv() = default;

  /// y = A x with A the graph's in-links; x and y are device arrays of one element a node. Only
  /// queues the work.
  virtual void multiply(const T* x, T* y, cudaStream_t stream) = 0;

  /// The order in which this kernel takes the nodes: element i of x and y is that of node
  /// order()[i] (device memory, one element a node). Null: as they are numbered.
  [[nodiscard]] virtual const NodeId* order() const { return nullptr; }

  /// So many nodes, the last ones in that order, neither link nor are linked to: multiply() reads
  /// no x of theirs and writes no y, which is 0.
  [[nodiscard]] virtual std::uint64_t isolated_nodes() const { return 0; }

  /// Bytes that one multiplication must move at least: each array of the kernel's layout, x and y
  /// once. Benchmarks measure against it.
  [[nodiscard]] virtual std::uint64_t bytes_to_multiply() const = 0;
};

/// One way to compute it: a row of the registry in spmv_registry.cu.
struct SpmvKernel {
  std::string_view name;
  std::string_view lesson;  ///< One line: what it does differently.

  /// Device bytes that a prepared kernel holds besides the graph; `value_bytes` is sizeof(T).
  /// Throws KernelRefused for a graph that the kernel cannot take.
  std::size_t (*extra_bytes)(const MatrixFacts& matrix, std::size_t value_bytes);

  /// Prepares the kernel. The graph outlives what is returned.
  std::unique_ptr<Spmv<float>> (*make_float)(const DeviceGraph<float>& graph, cudaStream_t stream);
  std::unique_ptr<Spmv<double>> (*make_double)(const DeviceGraph<double>& graph,
                                               cudaStream_t stream);

  /// Two runs give the same bits: what every kernel of ours does, and not all of a library's.
  bool same_bits = true;

  /// Sums of floats are added in double.
  bool wide_sums = true;

  /// Not ours: it reads values also where the graph has none, and adds up in its own way.
  bool library = false;

  template <class T>
  [[nodiscard]] std::unique_ptr<Spmv<T>> make(const DeviceGraph<T>& graph,
                                              cudaStream_t stream) const {
    if constexpr (std::is_same_v<T, double>) {
      return make_double(graph, stream);
    } else {
      return make_float(graph, stream);
    }
  }
};

/// Every kernel. --kernel, --list-kernels, tests and benchmarks walk this table.
[[nodiscard]] std::span<const SpmvKernel> spmv_kernels();

/// The kernel of that name. Throws std::invalid_argument.
[[nodiscard]] const SpmvKernel& find_spmv_kernel(std::string_view name);

/// For kernels that iterate on the graph's CSR arrays as they are.
[[nodiscard]] inline std::size_t no_extra_bytes(const MatrixFacts&, std::size_t) {
  return 0;
}

}  // namespace pagerank::gpu
