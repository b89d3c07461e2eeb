#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/cpu_engine.hpp"
#include "core/node_names.hpp"
#include "core/transition_builder.hpp"
#include "io/graph_reader.hpp"
#include "tests/simple_reader.hpp"

/// From text to ranks as the program goes on a CPU, links laid out as they are sorted, against
/// an engine of the matrix as it is.
namespace pagerank::tests {

/// All nodes in order of what they are called.
struct Ranks {
  std::vector<std::uint64_t> labels;
  std::vector<double> scores;
  double error_bound = 0;
};

inline Ranks solve(CpuEngine&& engine, const NodeNames& names) {
  const Solution solution = engine.solve({}, {.tolerance = 1e-6});
  Ranks ranks{.error_bound = solution.error_bound};
  for_each_node(solution.scores, names, [&](std::uint64_t label, double score) {
    ranks.labels.push_back(label);
    ranks.scores.push_back(score);
  });
  return ranks;
}

/// Throws as the format's reader does.
inline Ranks ranks_of_text(const std::string& path, io::GraphFormat format,
                           const io::ReadOptions& options) {
  io::ByteSource source(path);
  io::GraphReader reader(source, format, options);
  reader.read(SourceIndex::row);
  const NodeLabels labels = reader.take_labels();
  if (reader.node_count() == 0) return {};
  CpuEngineOptions engine{.threads = options.threads, .layout = CpuLayout::blocked};
  engine.sizes.blocked.window_bytes = 512;
  engine.sizes.blocked.block_rows = 64;
  engine.sizes.blocked.block_links = 300;
  engine.sizes.blocked.least_rows = 8;
  auto built = reader.build_for(engine.layout_wish());
  if (auto* const blocked = std::get_if<BlockedMatrix>(&built)) {
    const NodeId more = blocked->more_unlinked;
    return solve(CpuEngine(std::move(*blocked), engine), {labels, more});
  }
  auto& matrix = std::get<TransitionMatrix>(built);
  const NodeId more = matrix.more_unlinked;
  return solve(CpuEngine(std::move(matrix), engine), {labels, more});
}

/// Of a graph with `labels`, or nodes 1, 2, ...
inline Ranks ranks_of_edges(EdgeList edges, const NodeLabels& labels) {
  if (edges.node_count == 0) return {};
  return solve(CpuEngine(make_transition_matrix(std::move(edges), 1),
                         {.threads = 1, .layout = CpuLayout::plain}),
               {labels, 0});
}

[[nodiscard]] inline bool agree(const Ranks& a, const Ranks& b) {
  if (a.labels != b.labels) return false;
  // Weights near the largest double.
  if (!std::isfinite(a.error_bound) || !std::isfinite(b.error_bound)) {
    return std::isfinite(a.error_bound) == std::isfinite(b.error_bound);
  }
  double distance = 0;
  for (std::size_t i = 0; i < a.scores.size(); ++i) distance += std::abs(a.scores[i] - b.scores[i]);
  return distance <= a.error_bound + b.error_bound + 1e-14;
}

/// Whether the program makes of a text what the simple reader, which made `expected` of it, and the
/// matrix as it is make of it: ranks or message. Of graphs that are not too large for it.
template <class Graph>
[[nodiscard]] bool ranks_agree(const std::string& path, const io::ReadOptions& options,
                               const ReadOutcome<Graph>& expected) {
  constexpr NodeId most_nodes = 5000;
  if (expected.error.empty() && expected.graph.edges.node_count > most_nodes) return true;
  constexpr bool labelled = requires {
    expected.graph.labels;
  };
  const auto found = outcome_of([&] {
    return ranks_of_text(
        path, labelled ? io::GraphFormat::edge_list : io::GraphFormat::matrix_market, options);
  });
  if (found.error != expected.error) return false;
  if (!found.error.empty()) return true;
  if constexpr (labelled) {
    return agree(found.graph, ranks_of_edges(expected.graph.edges, expected.graph.labels));
  } else {
    return agree(found.graph, ranks_of_edges(expected.graph.edges, {}));
  }
}

}  // namespace pagerank::tests
