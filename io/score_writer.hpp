#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace pagerank::io {

enum class ScoreFormat {
  tsv,            ///< Ranked rows "rank<TAB>node<TAB>score" below that header line.
  csv,            ///< The same with commas.
  json,           ///< Ranked rows: an array of {"rank": 1, "node": 34, "score": 0.1}.
  matrix_market,  ///< A Matrix Market "array real general" vector in node order.
  npy             ///< A NumPy array of float64 in node order.
};

/// "tsv", "csv", "json", "mtx" and "npy" name the formats, as file name extensions do.
[[nodiscard]] std::optional<ScoreFormat> score_format_named(std::string_view name);

/// Whether the format lists nodes from the highest score down, and so needs a ranking.
[[nodiscard]] constexpr bool is_ranked(ScoreFormat format) {
  return format == ScoreFormat::tsv || format == ScoreFormat::csv || format == ScoreFormat::json;
}

/// Writes scores (one a node) with as many digits as reading them back exactly takes. Ranked
/// formats write the nodes in `order`, which may be shorter than `scores`; the others all nodes.
/// `comment` (one line or several) goes into formats that have comments. Nodes count from 1.
/// Failures show in the stream's state.
void write_scores(std::ostream& out, ScoreFormat format, std::span<const double> scores,
                  std::span<const NodeId> order, const std::string& comment = {});

}  // namespace pagerank::io
