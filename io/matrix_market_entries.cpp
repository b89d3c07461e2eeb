#include "io/matrix_market_entries.hpp"

#include "io/usual_numbers.hpp"

namespace pagerank::io {
namespace {

/// As entry_lines.hpp asks for.
struct Syntax {
  using Id = NodeId;
  using Field = MatrixMarketHeader::Field;

  const MatrixMarketHeader& header;
  std::uint64_t size = header.node_count;
  bool whole = header.field != Field::real;

  [[nodiscard]] bool weighted() const { return header.field != Field::pattern; }

  [[nodiscard]] std::optional<MatrixEntry> any_line(std::string_view line) const {
    return parse_entry_line(line, header);
  }

  [[nodiscard]] bool whole_weights() const { return whole; }
  static constexpr bool more_fields() { return false; }
  [[nodiscard]] usual::IdRange short_ids() const {
    usual::IdRange range{.least = 1};
    if (size < static_cast<std::uint64_t>(range.count)) {
      range.count = static_cast<std::int32_t>(size);
    }
    return range;
  }
  [[gnu::always_inline]] bool take(std::uint64_t row, std::uint64_t column, NodeId* row_to,
                                   NodeId* column_to) const {
    if (row - 1 >= size || column - 1 >= size) return false;
    *row_to = static_cast<NodeId>(row - 1);
    *column_to = static_cast<NodeId>(column - 1);
    return true;
  }

  static constexpr std::ptrdiff_t usual_line_most = 64;

  /// "i j\n" or "i j w\n".
  template <bool weighted>
  [[gnu::always_inline]] bool usual_line(const char*& at, const char* end, NodeId* row_to,
                                         NodeId* column_to, double* weight_to) const {
    const char* next = at;
    std::uint64_t row = 0, column = 0;
    if (!usual::read_index(next, row) || !is_blank(*next)) return false;
    ++next;
    if (!usual::read_index(next, column)) return false;
    if constexpr (weighted) {
      if (!is_blank(*next)) return false;
      ++next;
      if (!usual::read_weight(next, end, whole, *weight_to) || next == end) return false;
    }
    if (*next == '\r' && next + 1 != end) [[unlikely]] {
      ++next;
    }
    if (*next != '\n' || !take(row, column, row_to, column_to)) return false;
    at = next + 1;
    return true;
  }
};

}  // namespace

std::optional<MatrixEntry> parse_entry_line(std::string_view text,
                                            const MatrixMarketHeader& header) {
  LineFields line(text);
  line.skip_blanks();
  if (line.at_end() || line.at_one_of("%")) return std::nullopt;
  MatrixEntry entry;
  entry.first =
      line.index(header.node_count, ParseFault::bad_row_index, ParseFault::row_out_of_range);
  entry.second =
      line.index(header.node_count, ParseFault::bad_column_index, ParseFault::column_out_of_range);
  if (header.field != MatrixMarketHeader::Field::pattern) {
    entry.weight = line.weight(header.field != MatrixMarketHeader::Field::real);
  }
  line.require_end();
  return entry;
}

void parse_entries(std::string_view text, const MatrixMarketHeader& header, MatrixEntries& result) {
  parse_entry_lines(text, Syntax{header}, result);
}

}  // namespace pagerank::io
