#pragma once

#include <exception>
#include <optional>
#include <string>

#include "app/options.hpp"
#include "app/phase_clock.hpp"
#include "app/progress_display.hpp"
#include "core/blocked_matrix.hpp"
#include "core/node_names.hpp"
#include "core/shared_array.hpp"
#include "core/transition_matrix.hpp"
#include "gpu/device_reader.hpp"
#include "io/report.hpp"

namespace pagerank::app {

/// A graph that is ready to be ranked, and what its nodes are called.
struct LoadedGraph {
  TransitionMatrix matrix;
  /// Set: the matrix, for the CPU engine or the GPU's, and the one above is empty.
  std::optional<BlockedMatrix> blocked_matrix;
  std::optional<gpu::DeviceMatrix> device_matrix;
  SharedArray<std::uint64_t> labels;  ///< NodeLabels
  NodeId more_unlinked = 0;           ///< The matrix's.

  [[nodiscard]] NodeNames names() const { return {labels, more_unlinked}; }
};

/// No GPU, or one that has too little memory, or the system lacks the memory or the threads that
/// feed one: what is asked of a GPU without need is then done here. A call that fails otherwise is
/// no lack but a fault, of ours or of the machine's, which the host's result would hide.
[[nodiscard]] bool is_lack_of_gpu(const std::exception& error);

/// Whether the GPU is to read this GRAPH: if --reader says so, or of `auto` if a GPU may rank it
/// and it is a plain file, not to be cached, that is large enough for the cores that would read it.
[[nodiscard]] bool reads_on_device(const Options& options, const std::string& path);

/// A GRAPH: from its text, from the cache of it that an earlier run left, or from a
/// graph cache that was given itself. A text whose graph the CPU engine is sure to rank is built
/// right into the layout that suits it, unless it is to be cached. Fills report.graph and the
/// seconds of reading, building and writing the cache; those that are there already, of a GPU that
/// had the graph in vain, become part of reading. A cache that cannot be used or written costs
/// a message, not the ranking.
[[nodiscard]] LoadedGraph load_graph(const Options& options, const std::string& path,
                                     PhaseClock& clock, ProgressDisplay& progress,
                                     io::Report& report);

}  // namespace pagerank::app
