#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "core/node_names.hpp"
#include "core/types.hpp"

namespace pagerank::io {

enum class ScoreFormat {
  tsv,            ///< Ranked rows "rank<TAB>node<TAB>score" below that header line.
  csv,            ///< The same with commas.
  json,           ///< Ranked rows: an array of {"rank": 1, "node": 34, "score": 0.1}.
  matrix_market,  ///< A Matrix Market "array real general" vector in node order; labels in
                  ///< comments.
  npy             ///< A NumPy array in node order: of float64; with labels, of ("node", "score").
};

/// "tsv", "csv", "json", "mtx" and "npy" name the formats, as file name extensions do.
[[nodiscard]] std::optional<ScoreFormat> score_format_named(std::string_view name);

/// Whether the format lists nodes from the highest score down, and so needs a ranking.
[[nodiscard]] constexpr bool is_ranked(ScoreFormat format) {
  return format == ScoreFormat::tsv || format == ScoreFormat::csv || format == ScoreFormat::json;
}

/// What of scores is written.
struct ScoreRows {
  std::span<const double> scores;
  std::span<const NodeId>
      order;  ///< For ranked formats: rank_nodes() for a depth of `most` or more.
  NodeNames names = {};
  std::uint64_t most = UINT64_MAX;  ///< Ranked formats write so many nodes, or all.
};

/// Writes scores with as many digits as reading them back exactly takes. Formats that are not
/// ranked have all nodes. `comment` (one line or several) goes into formats that have comments.
/// Failures show in the stream's state.
void write_scores(std::ostream& out, ScoreFormat format, const ScoreRows& rows,
                  const std::string& comment = {});

}  // namespace pagerank::io
