#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/load_graph.hpp"
#include "app/options.hpp"
#include "core/cpu_engine.hpp"
#include "core/pagerank.hpp"

namespace pagerank::app {

/// The engine that runs, and how it came to be chosen.
struct ChosenEngine {
  std::unique_ptr<Engine> engine;
  std::string name;                          ///< "gpu" or "cpu"
  Precision precision = Precision::float64;  ///< That it iterates in.
  std::string why;  ///< Why the CPU, where a GPU would have been taken; else empty.
};

/// Before any work: throws UsageError for a kernel that does not exist, gpu::NotCompiled or
/// gpu::NoDevice where --engine gpu cannot be had.
void require_engine(const Options& options);

/// The one place where it is decided which engine runs. The engine takes over what of the
/// graph is on a GPU, and the CPU engine its matrix; another's matrix has to outlive the engine.
[[nodiscard]] ChosenEngine choose_engine(const Options& options, LoadedGraph& graph);

}  // namespace pagerank::app
