#pragma once

#include <cstddef>

#include "gpu/device_traits.hpp"
#include "gpu/graph_shape.hpp"

/// What `balanced` and `blocked` take on a graph of that shape: a model, fitted to measurements
/// (docs/notebook/gpu.md).
namespace pagerank::gpu {

/// Seconds on an H100 with memory of that bandwidth; devices that differ in more differ in all of
/// them alike, about. An H200 is such a one. (Measured on these two alone.)
struct KernelCost {
  double prepare = 0;  ///< What is left when the links have arrived.
  double iteration = 0;
};
[[nodiscard]] KernelCost cost_of_balanced(const GraphShape& shape, std::size_t value_bytes,
                                          double memory_bandwidth = h100_memory_bandwidth);
[[nodiscard]] KernelCost cost_of_blocked(const GraphShape& shape, std::size_t value_bytes,
                                         double memory_bandwidth = h100_memory_bandwidth);
/// The same, of which preparation begins when the links have been there for long, beside iterations
/// (of which KernelChoice::beside).
[[nodiscard]] KernelCost cost_of_late_blocked(const GraphShape& shape, std::size_t value_bytes,
                                              double memory_bandwidth = h100_memory_bandwidth);
/// The same where what can be done while links arrive has been done.
[[nodiscard]] KernelCost cost_of_held_blocked(const GraphShape& shape, std::size_t value_bytes,
                                              double memory_bandwidth = h100_memory_bandwidth);

}  // namespace pagerank::gpu
