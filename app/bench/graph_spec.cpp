#include "app/bench/graph_spec.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>

#include "app/options.hpp"

namespace pagerank::app::bench {
namespace {

[[noreturn]] void refuse(const std::string& spec, const std::string& reason) {
  throw UsageError(spec + ": " + reason);
}

std::uint64_t whole_number(const std::string& spec, std::string_view text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    refuse(spec, "expected a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", found '" + std::string(text) + "'");
  }
  return number;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void read_size(const std::string& spec, std::string_view size, GraphDefaults& values) {
  constexpr std::uint64_t most_scale = 31, most_links = 1'000'000;
  const std::size_t cross = size.find('x');
  if (cross != std::string_view::npos) {
    values.links = whole_number(spec, size.substr(cross + 1), 1, most_links);
  }
  values.scale = static_cast<int>(whole_number(spec, size.substr(0, cross), 0, most_scale));
}

}  // namespace

const std::vector<GraphPreset>& graph_presets() {
  static const std::vector<GraphPreset> presets = {
      {"rmat",
       "Graph500 R-MAT, a social graph; repeated links and loops kept",
       {.kind = GraphKind::rmat}},
      {"uniform", "sources and targets independent and uniform", {.kind = GraphKind::uniform}},
      {"web", "links to near nodes, 15 in 100 to hubs", {.kind = GraphKind::web}},
      {"power-law",
       "all links to hubs, in-degrees fall as 1 / rank",
       {.kind = GraphKind::power_law}},
      {"citation", "links to any earlier node: rank goes one way", {.kind = GraphKind::citation}},
      {"preferential",
       "preferential attachment: each node links to ends of earlier links",
       {.kind = GraphKind::preferential}},
      {"small-world",
       "links to the next nodes on a ring, 1 in 10 anywhere",
       {.kind = GraphKind::small_world}},
      {"communities",
       "4 in 5 links stay in groups of a hundred nodes",
       {.kind = GraphKind::communities}},
      {"traps", "1 node in 50 is in a group that 1 link in 50 leaves", {.kind = GraphKind::traps}},
      {"diagonal", "each node links to itself", {.kind = GraphKind::diagonal}},
      {"hub", "all nodes link to the first and to their successor", {.kind = GraphKind::hub}},
      {"blog",
       "52000 nodes, 1 in 100 of all links, uniform: the matrix of the 2011 blog",
       {.kind = GraphKind::uniform, .nodes = 52'000, .links = 27'040'000}},
  };
  return presets;
}

std::optional<GraphRecipe> parse_graph_spec(const std::string& spec,
                                            const GraphDefaults& defaults) {
  const std::vector<std::string_view> parts = split(spec, ':');
  const auto& presets = graph_presets();
  const auto preset = std::find_if(presets.begin(), presets.end(),
                                   [&](const GraphPreset& p) { return p.name == parts.front(); });
  if (preset == presets.end()) return std::nullopt;

  const bool fixed_size = preset->recipe.nodes != 0;
  GraphDefaults values = defaults;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "scramble") {
      values.scramble = true;
    } else if (part == "symmetric") {
      values.symmetric = true;
    } else if (part == "weighted") {
      values.weighted = true;
    } else if (part.starts_with("seed=")) {
      values.seed = whole_number(spec, part.substr(5), 0, UINT64_MAX);
    } else if (!part.empty() && part.front() >= '0' && part.front() <= '9' && !fixed_size) {
      read_size(spec, part, values);
    } else {
      refuse(spec, "expected " + std::string(fixed_size ? "" : "SCALExLINKS, ") +
                       "seed=N, scramble, symmetric or weighted, found '" + std::string(part) +
                       "'");
    }
  }
  GraphRecipe recipe = preset->recipe;
  if (!fixed_size) {
    recipe.nodes = std::uint64_t{1} << values.scale;
    recipe.links = recipe.nodes * values.links;
  }
  recipe.seed = values.seed;
  recipe.scramble = values.scramble;
  recipe.symmetric = values.symmetric;
  recipe.weighted = values.weighted;
  return recipe;
}

std::string describe(const GraphRecipe& recipe) {
  const auto& presets = graph_presets();
  const auto same_size = [&](const GraphPreset& preset) {
    return preset.recipe.nodes == 0 ||
           (preset.recipe.nodes == recipe.nodes && preset.recipe.links == recipe.links);
  };
  // A preset of fixed size is named before the generator that it uses.
  const GraphPreset* best = nullptr;
  for (const GraphPreset& preset : presets) {
    if (preset.recipe.kind != recipe.kind || !same_size(preset)) continue;
    if (best == nullptr || preset.recipe.nodes != 0) best = &preset;
  }
  if (best == nullptr) throw std::invalid_argument("no generator makes such a graph");
  std::string text(best->name);
  if (best->recipe.nodes == 0) {
    text += ":" + std::to_string(std::bit_width(recipe.nodes) - 1);
    const bool has_links = recipe.kind != GraphKind::diagonal && recipe.kind != GraphKind::hub;
    if (has_links) text += "x" + std::to_string(recipe.links / recipe.nodes);
  }
  text += ":seed=" + std::to_string(recipe.seed);
  if (recipe.scramble) text += ":scramble";
  if (recipe.symmetric) text += ":symmetric";
  if (recipe.weighted) text += ":weighted";
  return text;
}

}  // namespace pagerank::app::bench
