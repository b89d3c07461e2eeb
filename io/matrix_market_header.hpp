#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/line_fields.hpp"

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
  std::optional<MatrixMarketHeader> parse(std::string_view line);
  [[noreturn]] void refuse(ParseFault fault, std::string detail) const;

  MatrixMarketHeader header_;
};

}  // namespace pagerank::io
