#pragma once

#include "gpu/device_graph.cuh"
#include "gpu/early_changes.hpp"

namespace pagerank::gpu {

/// Sees the first changes of a graph on the device: of one link's walks as links arrive, of the
/// others once all have, which takes up to about an iteration. All is queued into one stream.
template <class T>
class EarlyChanges {
 public:
  /// Throws OutOfMemory.
  EarlyChanges(const DeviceGraph<T>& graph, cudaStream_t stream);

  /// Links [begin, end) are there. They are told of in their order.
  void see(const CsrView<T>& links, EdgeIndex begin, EdgeIndex end);

  /// Whether a solve would take more iterations: when all links have been told of.
  [[nodiscard]] bool promise_more_than(double iterations, const CsrView<T>& links, double alpha,
                                       double tolerance);

 private:
  /// Of walks no longer than one link more than `arrays` hold.
  [[nodiscard]] Outlook outlook(const CsrView<T>& links, int arrays, double alpha,
                                double tolerance) const;

  ScratchMemory memory_;
  const double* inverse_out_weight_;
  /// B^k 1 over the sources' out-weights (with weights, which are divided already, as it is): what
  /// the matrix is multiplied with.
  DeviceBuffer<T> none_, first_, second_;
};

extern template class EarlyChanges<float>;
extern template class EarlyChanges<double>;

}  // namespace pagerank::gpu
