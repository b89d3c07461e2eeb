#pragma once

#include <optional>
#include <string_view>

#include "core/types.hpp"
#include "io/entry_lines.hpp"
#include "io/matrix_market_header.hpp"

namespace pagerank::io {

/// One entry of a matrix, row and column counted from 0.
using MatrixEntry = Entry<NodeId>;
using MatrixEntries = ParsedEntries<NodeId>;

/// The entry on one line (without its newline), or nothing if it is blank or a comment. Throws
/// LineFault, with line 1, at what is neither.
[[nodiscard]] std::optional<MatrixEntry> parse_entry_line(std::string_view line,
                                                          const MatrixMarketHeader& header);

/// parse_entry_lines() for the lines behind this header.
void parse_entries(std::string_view text, const MatrixMarketHeader& header, MatrixEntries& result);

}  // namespace pagerank::io
