#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/byte_source.hpp"

namespace pagerank::io {

enum class GraphFormat {
  matrix_market,  ///< As MatrixMarketReader reads it.
  edge_list       ///< As EdgeListReader reads it.
};

/// Whether a text that begins with this line is a Matrix Market file, well-formed or not: "%%" is
/// right before its name, but one '%' or three are a damaged banner rather than a comment.
[[nodiscard]] bool is_matrix_market_banner(std::string_view line);

/// The name without a .gz at its end, in upper case, too.
[[nodiscard]] std::filesystem::path without_gz(std::filesystem::path name);

/// The format that a file's name says, with or without .gz behind it: .mtx, or .txt, .el, .wel,
/// .tsv, .edges and .edgelist, in upper case, too. Nothing for other names.
[[nodiscard]] std::optional<GraphFormat> format_by_name(const std::string& path);

/// What a source, from which nothing was read so far, says that it holds. A Matrix Market banner
/// says so whatever the name; else the name does; of other names a first line, blank ones aside,
/// that begins with '#', or with '%' as KONECT's ("% asym unweighted"), says that it is an edge
/// list. Nothing where nothing says so: a table of numbers may be anything. Throws InputError for a
/// graph cache, which cannot be read this way, and for what zstd, xz, bzip2 or zip compressed.
[[nodiscard]] std::optional<GraphFormat> stated_format(ByteSource& source, const std::string& path);

/// The same; where nothing says so Matrix Market, for that has a banner to be told by.
[[nodiscard]] GraphFormat format_of(ByteSource& source, const std::string& path);

}  // namespace pagerank::io
