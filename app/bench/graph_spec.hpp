#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph_generator.hpp"

namespace pagerank::app::bench {

/// A kind of graph that pagerank-bench makes.
struct GraphPreset {
  std::string_view name;
  std::string_view text;  ///< One line.
  GraphRecipe recipe;     ///< nodes 0: 2^scale, links 0: so many times the nodes as asked for.
};
[[nodiscard]] const std::vector<GraphPreset>& graph_presets();

/// What --scale, --links, --seed, --scramble, --symmetric and --weighted say.
struct GraphDefaults {
  int scale = 22;
  std::uint64_t links = 16;  ///< A node.
  std::uint64_t seed = 1;
  bool scramble = false;
  bool symmetric = false;
  bool weighted = false;
};

/// The recipe for NAME[:SCALExLINKS][:seed=N][:scramble][:symmetric][:weighted], what it leaves out
/// from `defaults`; nothing if NAME is no generator or preset, and so a file. Throws UsageError.
[[nodiscard]] std::optional<GraphRecipe> parse_graph_spec(const std::string& spec,
                                                          const GraphDefaults& defaults);

/// The specification that makes the recipe whatever the defaults: "rmat:22x16:seed=1:scramble".
/// Throws std::invalid_argument for a recipe that none makes.
[[nodiscard]] std::string describe(const GraphRecipe& recipe);

}  // namespace pagerank::app::bench
