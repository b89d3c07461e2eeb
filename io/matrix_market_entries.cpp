#include "io/matrix_market_entries.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace pagerank::io::detail {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

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
  return magnitude + (negative ? -exponent : exponent) > 0;
}

}  // namespace

bool EntryLine::refuse(ParseFault fault, std::string detail) {
  const bool binary = std::find(begin_, end_, '\0') != end_;
  fault_ = binary ? ParseFault::binary_data : fault;
  detail_ = binary ? "a NUL byte" : std::move(detail);
  return false;
}

bool EntryLine::refuse_field(ParseFault fault, const char* field) {
  const char* field_end = std::find_if(field, end_, is_blank);
  if (field == field_end) return refuse(fault, "the line ends");
  return refuse(fault, "found " + quoted({field, static_cast<std::size_t>(field_end - field)}));
}

bool EntryLine::refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                             ParseFault out_of_range) {
  const char* const field_end = std::find_if(field, end_, is_blank);
  const char* const digits =
      field + (field != field_end && (*field == '-' || *field == '+') ? 1 : 0);
  if (digits == field_end || !std::all_of(digits, field_end, is_digit)) {
    return refuse_field(not_a_number, field);
  }
  return refuse(out_of_range, "found " +
                                  quoted({field, static_cast<std::size_t>(field_end - field)}) +
                                  ", expected 1 to " + std::to_string(size));
}

bool EntryLine::weight(MatrixMarketHeader::Field kind, double& out) {
  using Field = MatrixMarketHeader::Field;
  skip_blanks();
  const char* const field = at_;
  at_ = std::find_if(at_, end_, is_blank);
  const char* number = field;
  if (at_ - number > 1 && *number == '+' && number[1] != '-') ++number;  // from_chars takes no '+'
  const auto [parsed, error] = std::from_chars(number, at_, out);
  if (field == at_ || parsed != at_ || error == std::errc::invalid_argument) {
    return refuse_field(ParseFault::bad_weight, field);
  }
  const bool negative = *number == '-';
  if (error == std::errc::result_out_of_range) {
    const std::string_view magnitude(number + (negative ? 1 : 0),
                                     static_cast<std::size_t>(at_ - number) - (negative ? 1 : 0));
    if (is_huge(magnitude)) return refuse_field(ParseFault::weight_not_finite, field);
    if (negative) return refuse_field(ParseFault::negative_weight, field);
    out = 0;  // the nearest double
  }
  if (!std::isfinite(out)) return refuse_field(ParseFault::weight_not_finite, field);
  if (kind != Field::real &&
      !std::all_of(number + (negative ? 1 : 0), at_, [](char c) { return is_digit(c); })) {
    return refuse_field(ParseFault::fractional_weight, field);
  }
  if (out < 0) return refuse_field(ParseFault::negative_weight, field);
  out = std::abs(out);  // no negative zero
  return true;
}

}  // namespace pagerank::io::detail
