#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace pagerank::io {

/// Everything about one ranking of one graph that is worth keeping beside the scores. Names and
/// units here are those of the JSON that write_report() makes; optional text is empty if unset.
struct Report {
  struct Graph {
    std::string path;
    std::string format;  ///< "mtx" or "edges".
    std::uint64_t nodes = 0;
    std::uint64_t smallest_node = 0;  ///< What the first and the last node are called in the file
    std::uint64_t largest_node = 0;   ///< and in results.
    std::uint64_t entries = 0;        ///< As stored in the file.
    std::uint64_t links = 0;          ///< Different (source, target) pairs.
    std::uint64_t dangling = 0;       ///< Nodes without out-weight.
    bool weighted = false;
    bool symmetric = false;
    std::string source;  ///< "row" or "column".
    std::string cache;   ///< The graph cache that it came from; empty: it was read from text.
  } graph;

  /// What was asked for, defaults filled in.
  struct Options {
    double alpha = 0;
    std::string dangling;
    bool assignment = false;
    std::string source;  ///< "row" or "column".
    std::string engine;  ///< "auto", "gpu" or "cpu".
    std::string reader;  ///< "auto", "host" or "device".
    int device = 0;
    std::uint64_t gpu_memory = 0;  ///< Bytes that may be taken; 0: what is free.
    std::string kernel;            ///< "auto" or a name.
    std::string precision;
    int threads = 0;  ///< Of the build and the CPU engine.
    double tolerance = 0;
    std::uint32_t max_iterations = 0;
  } options;

  std::string reader;  ///< Of the text: "host", or "device" for the GPU; empty: a cache was read.
  std::string engine;  ///< As used: "gpu" or "cpu".
  std::string device;
  std::string kernel;     ///< GPU engine only.
  std::string precision;  ///< That was iterated in: "double", "mixed" or "float".

  std::uint32_t iterations = 0;
  bool converged = false;
  double error_bound = 0;  ///< Bound of the L1 distance to the exact solution.
  std::uint64_t certified_depth = 0;
  std::vector<double> residual_history;  ///< ||x_k - x_(k-1)||_1 of each iteration.

  /// Wall time of each phase.
  struct Seconds {
    double read = 0;
    double context = 0;  ///< Of `read`, of the GPU's reader: from its beginning until the GPU was
                         ///< there to take text. Of the first graph with what finding it took.
    double stream = 0;   ///< Of `read` likewise, after `context`: while text was on its way to the
                         ///< GPU and parsed there.
    double build = 0;    ///< The matrix, and on the CPU the engine's layout of it (also where
                         ///< that follows upon a GPU that could not be had).
    double cache = 0;    ///< Writing it.
    double upload = 0;   ///< To the GPU, and the engine's layout there.
    double solve = 0, rank = 0, write = 0, total = 0;
  } seconds;

  std::string version;
};

/// Writes the report as one JSON object, "schema_version": 1. Failures show in the stream's state.
void write_report(std::ostream& out, const Report& report);

}  // namespace pagerank::io
