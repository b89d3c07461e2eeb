#pragma once

#include <cstdint>
#include <optional>

#include "app/options.hpp"
#include "core/cpu_engine.hpp"
#include "core/pagerank.hpp"
#include "core/transition_matrix.hpp"
#include "core/types.hpp"

namespace pagerank::app {

/// Whether the CPU engine will rank, whatever the graph. Not where only a GPU could tell, which may
/// just be waking up.
[[nodiscard]] bool is_sure_to_rank_on_cpu(const Options& options);

/// How it is to rank a graph of so many links, whose nodes have labels of their own or not.
[[nodiscard]] CpuEngineOptions cpu_engine_options(const Options& options, EdgeIndex links,
                                                  bool labelled);

/// How the CPU engine is to hold the links where so much memory is available (unset: unknown): as
/// suits them best, or as they are if there is no memory for anything else, which it logs.
[[nodiscard]] CpuLayout cpu_layout(const TransitionMatrix& matrix, Precision precision,
                                   std::optional<std::uint64_t> available);

}  // namespace pagerank::app
