#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/input_error.hpp"

namespace pagerank::io {

/// The header of a Matrix Market file that can be read as a graph (R. F. Boisvert, R. Pozo,
/// K. A. Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996).
struct MatrixMarketHeader {
  enum class Field { pattern, integer, unsigned_integer, real };

  Field field = Field::pattern;
  bool symmetric = false;
  std::uint64_t node_count = 0;  ///< Rows and columns: 1 .. max_node_count.
  std::uint64_t entries = 0;     ///< As declared, not as counted.
  std::uint64_t lines = 0;       ///< Lines up to and including the size line.
};

/// A defect of one line of text. The reader adds the file's name.
struct LineFault {
  std::uint64_t line;  ///< From 1, in the text that was handed over.
  ParseFault fault;
  std::string detail;
};

/// Reads the header line by line: banner, comments and blank lines, size line.
class MatrixMarketHeaderParser {
 public:
  /// Takes the next line, without its newline. Returns the header once the line was the size line.
  /// Throws LineFault, with the line's number in the file, at what cannot be read as a graph.
  std::optional<MatrixMarketHeader> feed(std::string_view line);

  /// Call when the input ended before feed() returned a header: throws LineFault.
  [[noreturn]] void end_of_input() const;

  [[nodiscard]] std::uint64_t lines() const { return header_.lines; }

 private:
  void parse_banner(std::string_view line);
  void parse_size_line(std::string_view line);
  [[noreturn]] void refuse(ParseFault fault, std::string detail) const;

  MatrixMarketHeader header_;
};

/// Blanks between the fields of a line. '\r' is one, so that CRLF files need no care.
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Cuts the next field off the front of `rest`; empty at the end of the line.
[[nodiscard]] std::string_view next_field(std::string_view& rest);

}  // namespace pagerank::io
