#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/characters.hpp"
#include "core/types.hpp"
#include "io/input_error.hpp"

namespace pagerank::io {

/// A defect of one line of text. The reader adds the file's name.
struct LineFault {
  std::uint64_t line;  ///< From 1, in the text that was handed over.
  ParseFault fault;
  std::string detail;
  bool line_ended = false;  ///< Where more was expected.
};

/// What a line that is refused is called if it is no text, whatever the field at fault: the first
/// byte of it that is a control character, or neither ASCII nor of UTF-8's form.
[[nodiscard]] std::optional<LineFault> binary_data_in(std::string_view line);

/// What such a fault is called on a last line that has no newline: the rest of it may be missing.
[[nodiscard]] LineFault cut_off(const LineFault& fault);

/// Cuts the next field off the front of `rest`; empty at the end of the line.
[[nodiscard]] std::string_view next_field(std::string_view& rest);

/// The fields of one line (without its newline), read from the front: the general way, which all
/// numbers that may be written can go. A defect ends the reading with a LineFault of line 1.
class LineFields {
 public:
  explicit LineFields(std::string_view line)
      : begin_(line.data()), at_(line.data()), end_(line.data() + line.size()) {}

  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }

  /// Whether the next character is one of these.
  [[nodiscard]] bool at_one_of(std::string_view characters) const {
    return at_ != end_ && characters.find(*at_) != std::string_view::npos;
  }

  /// Reads an index counted from 1 into one counted from 0, below `size`.
  NodeId index(std::uint64_t size, ParseFault not_a_number, ParseFault out_of_range);

  /// Reads a node id of an edge list: a whole number below 2^64.
  std::uint64_t id(ParseFault not_a_number);

  /// Reads a finite weight >= 0 as std::from_chars does, but with a '+' in front if it has one;
  /// `whole`: of digits only.
  double weight(bool whole);

  /// Passes over a time stamp: any finite number.
  void skip_time();

  void require_end() {
    skip_blanks();
    if (at_ != end_) refuse_here(ParseFault::trailing_characters);
  }

  /// Throws the fault, with what the next field is.
  [[noreturn]] void refuse_here(ParseFault fault) const { refuse_field(fault, at_); }

 private:
  [[nodiscard]] bool at_field_end() const { return at_ == end_ || is_blank(*at_); }
  [[noreturn]] void refuse(ParseFault fault, std::string detail, bool line_ended = false) const;
  [[noreturn]] void refuse_field(ParseFault fault, const char* field,
                                 bool line_ended = false) const;
  [[noreturn]] void refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                                 ParseFault out_of_range) const;

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace pagerank::io
