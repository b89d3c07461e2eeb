#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pagerank::io {

/// Input that cannot be used. The message names the file.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of a file that cannot be opened, by errno: throws InputError, or std::system_error where the
/// process or the system has too many files open or no memory, which is no fault of the file.
[[noreturn]] void throw_not_opened(const std::string& name, int error);

/// Everything that the text of a graph can be refused for: one name a defect, shared by all
/// readers.
enum class ParseFault {
  bad_banner,
  unknown_object,
  vector_object,
  unknown_format,
  array_format,
  unknown_field,
  complex_field,
  unknown_symmetry,
  skew_symmetric,
  hermitian,
  missing_size_line,
  bad_size_line,
  entry_count_too_large,
  not_square,
  no_nodes,
  too_many_nodes,
  bad_row_index,
  bad_column_index,
  row_out_of_range,
  column_out_of_range,
  index_too_large,
  bad_first_id,
  bad_second_id,
  id_too_large,
  bad_weight,
  fractional_weight,
  negative_weight,
  weight_not_finite,
  missing_weight,
  unexpected_weight,
  missing_time,
  bad_time,
  trailing_characters,
  cut_off_entry,
  too_few_entries,
  entries_exceed_text,
  too_many_entries,
  no_links,
  banner_in_edge_list,
  binary_data,
  line_too_long
};

/// What was expected instead, as one phrase.
[[nodiscard]] std::string_view describe(ParseFault fault);

/// A text that breaks its format, or means something PageRank cannot.
/// what() is "file:line: phrase: detail".
class ParseError : public InputError {
 public:
  /// `line` counts from 1; `detail` (what was found) may be empty.
  ParseError(const std::string& file, std::uint64_t line, ParseFault fault,
             const std::string& detail);

  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] ParseFault fault() const { return fault_; }

 private:
  std::uint64_t line_;
  ParseFault fault_;
};

/// `text` in quotes for a message: shortened, with unprintable bytes as \xHH.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace pagerank::io
