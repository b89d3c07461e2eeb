#include "io/line_fields.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

namespace pagerank::io {
namespace {

/// Whether the decimal number in `text` (digits, point, exponent: what from_chars took as out of
/// range) is too large for a double, rather than too small. Its first significant digit tells.
bool is_huge(std::string_view text) {
  long long magnitude = 0;  // decimal places before the first significant digit, then the exponent
  bool significant = false, fraction = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == '.'); ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    significant = significant || text[i] != '0';
    if (significant && !fraction) ++magnitude;
    if (!significant && fraction) --magnitude;
  }
  if (i == text.size()) return magnitude > 0;
  const bool negative = text[i + 1] == '-';
  const char* first = text.data() + i + 1 + (text[i + 1] == '+' || negative ? 1 : 0);
  long long exponent = 0;
  if (std::from_chars(first, text.data() + text.size(), exponent).ec != std::errc{}) {
    return !negative;
  }
  exponent = std::min(exponent, 1LL << 40);  // no line has so many places: the sum cannot overflow
  return magnitude + (negative ? -exponent : exponent) > 0;
}

/// Bytes of the character that `text`, which is not empty, begins with; 0 if no text does.
std::size_t character_length(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) {
    return (byte >= 0x20 && byte != 0x7f) || (byte >= '\t' && byte <= '\r') ? 1 : 0;
  }
  const int length = std::countl_one(byte);
  if (length < 2 || length > 4 || text.size() < static_cast<std::size_t>(length)) return 0;
  for (const char c : text.substr(1, static_cast<std::size_t>(length) - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return 0;
  }
  return static_cast<std::size_t>(length);
}

}  // namespace

std::optional<LineFault> binary_data_in(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t length = character_length(line.substr(at));
    if (length == 0) break;
    at += length;
  }
  if (at >= line.size()) return std::nullopt;
  return LineFault{1, ParseFault::binary_data,
                   line[at] == '\0' ? "a NUL byte" : "found " + quoted(line.substr(at, 1))};
}

LineFault cut_off(const LineFault& fault) {
  return {fault.line, ParseFault::cut_off_entry, std::string(describe(fault.fault))};
}

std::string_view next_field(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && is_blank(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  const std::string_view field = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return field;
}

NodeId LineFields::index(std::uint64_t size, ParseFault not_a_number, ParseFault out_of_range) {
  skip_blanks();
  const char* const field = at_;
  if (at_ != end_ && *at_ == '+') ++at_;
  const char* const digits = at_;
  std::uint64_t value = 0;
  for (; at_ != end_ && is_digit(*at_); ++at_) {
    // Larger than any size and its length no longer matters: keep it from wrapping around.
    if (value <= max_node_count) value = value * 10 + static_cast<unsigned char>(*at_ - '0');
  }
  if (at_ == digits || !at_field_end() || value - 1 >= size) {
    refuse_index(field, size, not_a_number, out_of_range);
  }
  return static_cast<NodeId>(value - 1);
}

void LineFields::refuse(ParseFault fault, std::string detail, bool line_ended) const {
  if (const auto binary = binary_data_in({begin_, static_cast<std::size_t>(end_ - begin_)})) {
    throw LineFault(*binary);
  }
  throw LineFault{1, fault, std::move(detail), line_ended};
}

void LineFields::refuse_field(ParseFault fault, const char* field, bool line_ended) const {
  const char* field_end = std::find_if(field, end_, is_blank);
  if (field == field_end) refuse(fault, "the line ends", true);
  refuse(fault, "found " + quoted({field, static_cast<std::size_t>(field_end - field)}),
         line_ended);
}

void LineFields::refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                              ParseFault out_of_range) const {
  const char* const field_end = std::find_if(field, end_, is_blank);
  const char* const digits =
      field + (field != field_end && (*field == '-' || *field == '+') ? 1 : 0);
  if (digits == field_end || !std::all_of(digits, field_end, is_digit)) {
    refuse_field(not_a_number, field);
  }
  std::uint64_t value = 0;
  if (*field != '-' &&
      std::from_chars(digits, field_end, value).ec == std::errc::result_out_of_range) {
    out_of_range = ParseFault::index_too_large;
  }
  refuse(out_of_range, "found " + quoted({field, static_cast<std::size_t>(field_end - field)}) +
                           ", expected 1 to " + std::to_string(size));
}

std::uint64_t LineFields::id(ParseFault not_a_number) {
  skip_blanks();
  const char* const field = at_;
  at_ = std::find_if(at_, end_, is_blank);
  const char* const digits = field + (field != at_ && *field == '+' ? 1 : 0);
  if (digits == at_ || !std::all_of(digits, at_, is_digit)) refuse_field(not_a_number, field);
  std::uint64_t value = 0;
  if (std::from_chars(digits, at_, value).ec != std::errc{}) {
    refuse_field(ParseFault::id_too_large, field);
  }
  return value;
}

/// Whether digits could still make a number of it: "1e", "-", "+.".
static bool begins_number(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const std::string number = std::string(field) + '1';
  double value = 0;
  const auto [parsed, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return parsed == number.data() + number.size() && error != std::errc::invalid_argument;
}

double LineFields::weight(bool whole) {
  skip_blanks();
  const char* const field = at_;
  at_ = std::find_if(at_, end_, is_blank);
  const char* number = field;
  if (at_ - number > 1 && *number == '+' && number[1] != '-') ++number;  // from_chars takes no '+'
  double out = 0;
  const auto [parsed, error] = std::from_chars(number, at_, out);
  if (field == at_ || parsed != at_ || error == std::errc::invalid_argument) {
    refuse_field(ParseFault::bad_weight, field, at_ == end_ && begins_number({field, at_}));
  }
  const bool minus = *number == '-';
  bool negative = out < 0;
  if (error == std::errc::result_out_of_range) {
    const std::string_view magnitude(number + (minus ? 1 : 0),
                                     static_cast<std::size_t>(at_ - number) - (minus ? 1 : 0));
    if (is_huge(magnitude)) refuse_field(ParseFault::weight_not_finite, field);
    negative = minus;
    out = 0;  // the nearest double
  }
  if (!std::isfinite(out)) refuse_field(ParseFault::weight_not_finite, field);
  if (whole && !std::all_of(number + (minus ? 1 : 0), at_, is_digit)) {
    refuse_field(ParseFault::fractional_weight, field);
  }
  if (negative) refuse_field(ParseFault::negative_weight, field);
  return std::abs(out);  // no negative zero
}

void LineFields::skip_time() {
  skip_blanks();
  const char* const field = at_;
  at_ = std::find_if(at_, end_, is_blank);
  if (field == at_) refuse_field(ParseFault::missing_time, field);
  const char* number = field;
  if (at_ - number > 1 && *number == '+' && number[1] != '-') ++number;  // from_chars takes no '+'
  double out = 0;
  const auto [parsed, error] = std::from_chars(number, at_, out);
  if (parsed != at_ || error == std::errc::invalid_argument || !std::isfinite(out)) {
    refuse_field(ParseFault::bad_time, field);
  }
}

}  // namespace pagerank::io
