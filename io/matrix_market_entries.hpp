#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/array.hpp"
#include "core/types.hpp"
#include "io/matrix_market_header.hpp"

namespace pagerank::io {

/// One entry of a matrix: indices counted from 0, weight 1 in pattern files.
struct MatrixEntry {
  NodeId row = 0;
  NodeId column = 0;
  double weight = 1;
};

/// The entry on one line (without its newline), or nothing if it is blank or a comment. Throws
/// LineFault, with line 1, at what is neither.
[[nodiscard]] std::optional<MatrixEntry> parse_entry_line(std::string_view line,
                                                          const MatrixMarketHeader& header);

/// What parse_entries() made of a piece of text.
struct EntriesResult {
  /// The entries in order, as in MatrixEntry; no weights in pattern files.
  Array<NodeId> rows, columns;
  Array<double> weights;

  std::uint64_t lines = 0;            ///< Read, whatever was on them.
  std::vector<std::uint32_t> others;  ///< Of these the blank ones and comments, counted from 1.
  std::optional<LineFault> fault;     ///< The first bad line, counted from 1 in this text.

  [[nodiscard]] std::uint64_t entry_count() const { return rows.size(); }
};

/// Parses the entry lines of `text`, which holds whole lines (the last may lack its newline), into
/// `result`, whose memory is used again. Stops at the first fault. Knows nothing of the lines
/// before, so pieces of a file can be parsed side by side. Lines of the usual form go a faster way
/// than parse_entry_line(), to the same result.
void parse_entries(std::string_view text, const MatrixMarketHeader& header, EntriesResult& result);

}  // namespace pagerank::io
