#pragma once

#include "gpu/csr_view.cuh"
#include "gpu/device_buffer.cuh"

namespace pagerank::gpu {

/// Between node order and a kernel's own (Spmv::order()): element i of `there` is element order[i]
/// of `in_node_order`, rounded where it has to be. With a null order they are the same. Only queue
/// the work.
template <class From, class To>
void to_kernel_order(const NodeId* order, std::uint64_t nodes, const From* in_node_order, To* there,
                     cudaStream_t stream);
template <class T>
void to_node_order(const NodeId* order, std::uint64_t nodes, const T* there, T* in_node_order,
                   cudaStream_t stream);

}  // namespace pagerank::gpu
