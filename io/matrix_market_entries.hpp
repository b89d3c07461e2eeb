#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/types.hpp"
#include "io/matrix_market_header.hpp"

namespace pagerank::io {

/// What parse_entries() made of a piece of text.
struct EntriesResult {
  std::uint64_t entries = 0;       ///< Handed to the sink.
  std::uint64_t lines = 0;         ///< Read, blank ones and comments included.
  std::optional<LineFault> fault;  ///< The first bad line, counted from 1 in this text.
};

namespace detail {

/// The fields of one line, read from the front; a defect ends the reading.
class EntryLine {
 public:
  explicit EntryLine(std::string_view line)
      : begin_(line.data()), at_(line.data()), end_(line.data() + line.size()) {}

  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool at_comment() const { return at_ != end_ && *at_ == '%'; }

  /// Reads an index counted from 1 into one counted from 0, below `size`.
  bool index(std::uint64_t size, NodeId& out, ParseFault not_a_number, ParseFault out_of_range) {
    skip_blanks();
    const char* const field = at_;
    if (at_ != end_ && *at_ == '+') ++at_;
    const char* const digits = at_;
    std::uint64_t value = 0;
    while (at_ != end_ && static_cast<unsigned char>(*at_ - '0') < 10) {
      // Larger than any size and its length no longer matters: keep it from wrapping around.
      if (value <= max_node_count) value = value * 10 + static_cast<unsigned char>(*at_ - '0');
      ++at_;
    }
    if (at_ != digits && at_field_end() && value - 1 < size) {
      out = static_cast<NodeId>(value - 1);
      return true;
    }
    return refuse_index(field, size, not_a_number, out_of_range);
  }

  bool weight(MatrixMarketHeader::Field field, double& out);

  bool end_of_line() {
    skip_blanks();
    return at_ == end_ || refuse_field(ParseFault::trailing_characters, at_);
  }

  [[nodiscard]] LineFault take_fault(std::uint64_t line) {
    return {line, fault_, std::move(detail_)};
  }

 private:
  [[nodiscard]] bool at_field_end() const { return at_ == end_ || is_blank(*at_); }
  bool refuse(ParseFault fault, std::string detail);
  bool refuse_field(ParseFault fault, const char* field);
  bool refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                    ParseFault out_of_range);

  const char* begin_;
  const char* at_;
  const char* end_;
  ParseFault fault_{};
  std::string detail_;
};

}  // namespace detail

/// Parses the entry lines of `text`, which holds whole lines (the last may lack its newline), and
/// calls sink(row, column, weight) for each entry: indices counted from 0, weight 1 in pattern
/// files. At most `most_entries` are taken; one more is a fault. Stops at the first fault.
/// Knows nothing of the lines before, so pieces of a file can be parsed side by side.
template <class Sink>
EntriesResult parse_entries(std::string_view text, const MatrixMarketHeader& header,
                            std::uint64_t most_entries, Sink&& sink) {
  using Field = MatrixMarketHeader::Field;
  EntriesResult result;
  const char* at = text.data();
  const char* const text_end = at + text.size();
  while (at != text_end) {
    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(text_end - at)));
    const char* const line_end = newline != nullptr ? newline : text_end;
    detail::EntryLine line({at, static_cast<std::size_t>(line_end - at)});
    at = newline != nullptr ? newline + 1 : text_end;
    ++result.lines;

    line.skip_blanks();
    if (line.at_end() || line.at_comment()) continue;
    NodeId row = 0, column = 0;
    double weight = 1;
    const bool good = line.index(header.node_count, row, ParseFault::bad_row_index,
                                 ParseFault::row_out_of_range) &&
                      line.index(header.node_count, column, ParseFault::bad_column_index,
                                 ParseFault::column_out_of_range) &&
                      (header.field == Field::pattern || line.weight(header.field, weight)) &&
                      line.end_of_line();
    if (!good) {
      result.fault = line.take_fault(result.lines);
      return result;
    }
    if (result.entries == most_entries) {
      result.fault = LineFault{result.lines, ParseFault::too_many_entries,
                               std::to_string(header.entries) + " were declared"};
      return result;
    }
    sink(row, column, weight);
    ++result.entries;
  }
  return result;
}

}  // namespace pagerank::io
