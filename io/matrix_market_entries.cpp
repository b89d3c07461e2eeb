#include "io/matrix_market_entries.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace pagerank::io {
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
  NodeId index(std::uint64_t size, ParseFault not_a_number, ParseFault out_of_range);

  double weight(MatrixMarketHeader::Field kind);

  void require_end() {
    skip_blanks();
    if (at_ != end_) refuse_field(ParseFault::trailing_characters, at_);
  }

 private:
  [[nodiscard]] bool at_field_end() const { return at_ == end_ || is_blank(*at_); }
  [[noreturn]] void refuse(ParseFault fault, std::string detail) const;
  [[noreturn]] void refuse_field(ParseFault fault, const char* field) const;
  [[noreturn]] void refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                                 ParseFault out_of_range) const;

  const char* begin_;
  const char* at_;
  const char* end_;
};

NodeId EntryLine::index(std::uint64_t size, ParseFault not_a_number, ParseFault out_of_range) {
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

void EntryLine::refuse(ParseFault fault, std::string detail) const {
  if (std::find(begin_, end_, '\0') != end_) {
    throw LineFault{1, ParseFault::binary_data, "a NUL byte"};
  }
  throw LineFault{1, fault, std::move(detail)};
}

void EntryLine::refuse_field(ParseFault fault, const char* field) const {
  const char* field_end = std::find_if(field, end_, is_blank);
  if (field == field_end) refuse(fault, "the line ends");
  refuse(fault, "found " + quoted({field, static_cast<std::size_t>(field_end - field)}));
}

void EntryLine::refuse_index(const char* field, std::uint64_t size, ParseFault not_a_number,
                             ParseFault out_of_range) const {
  const char* const field_end = std::find_if(field, end_, is_blank);
  const char* const digits =
      field + (field != field_end && (*field == '-' || *field == '+') ? 1 : 0);
  if (digits == field_end || !std::all_of(digits, field_end, is_digit)) {
    refuse_field(not_a_number, field);
  }
  refuse(out_of_range, "found " + quoted({field, static_cast<std::size_t>(field_end - field)}) +
                           ", expected 1 to " + std::to_string(size));
}

double EntryLine::weight(MatrixMarketHeader::Field kind) {
  skip_blanks();
  const char* const field = at_;
  at_ = std::find_if(at_, end_, is_blank);
  const char* number = field;
  if (at_ - number > 1 && *number == '+' && number[1] != '-') ++number;  // from_chars takes no '+'
  double out = 0;
  const auto [parsed, error] = std::from_chars(number, at_, out);
  if (field == at_ || parsed != at_ || error == std::errc::invalid_argument) {
    refuse_field(ParseFault::bad_weight, field);
  }
  const bool negative = *number == '-';
  if (error == std::errc::result_out_of_range) {
    const std::string_view magnitude(number + (negative ? 1 : 0),
                                     static_cast<std::size_t>(at_ - number) - (negative ? 1 : 0));
    if (is_huge(magnitude)) refuse_field(ParseFault::weight_not_finite, field);
    if (negative) refuse_field(ParseFault::negative_weight, field);
    out = 0;  // the nearest double
  }
  if (!std::isfinite(out)) refuse_field(ParseFault::weight_not_finite, field);
  if (kind != MatrixMarketHeader::Field::real &&
      !std::all_of(number + (negative ? 1 : 0), at_, [](char c) { return is_digit(c); })) {
    refuse_field(ParseFault::fractional_weight, field);
  }
  if (out < 0) refuse_field(ParseFault::negative_weight, field);
  return std::abs(out);  // no negative zero
}

// The usual line, "i j\n" or "i j w\n" in plain decimal digits, eight characters at a time. What
// has any other form is left to parse_entry_line().

/// Eight characters as a number whose lowest byte is the first, less '0' each: digits become 0
/// .. 9.
std::uint64_t load_digits(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word ^ 0x3030303030303030;
}

/// How many of the eight are digits before the first that is none.
int leading_digits(std::uint64_t word) {
  // Adding 0x76 carries into the top bit from 10 on. Carries between bytes start above the first
  // byte that is no digit, which is the one looked for.
  const std::uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  return std::countr_zero(others) / 8;
}

/// The value of the first `count` (1 .. 8) digits: neighbours are joined to pairs, pairs to fours,
/// fours to eight.
std::uint64_t digits_value(std::uint64_t word, int count) {
  word <<= 64 - 8 * count;  // what is not there reads as leading zeros
  word = word * 10 + (word >> 8);
  constexpr std::uint64_t pair = 0x000000FF000000FF;
  return ((word & pair) * (100 + (std::uint64_t{1'000'000} << 32)) +
          ((word >> 16) & pair) * (1 + (std::uint64_t{10'000} << 32))) >>
         32;
}

/// Reads a number of 1 to 10 digits at the front of at least 16 characters and moves behind it.
/// Returns false if there is none.
bool read_index(const char*& at, std::uint64_t& value) {
  const std::uint64_t word = load_digits(at);
  const int count = leading_digits(word);
  if (count == 0) return false;
  value = digits_value(word, count);
  at += count;
  if (count == 8) {
    for (int more = 0; is_digit(*at); ++at) {
      if (++more > 2) return false;
      value = value * 10 + static_cast<unsigned char>(*at - '0');
    }
  }
  return true;
}

/// Reads digits[.digits], at most eight and seven of them, at the front of at least 24 characters.
/// Exact: numbers below 10^15 and powers of ten to 10^7 are doubles, and one division rounds once.
bool read_short_decimal(const char*& at, double& value) {
  std::uint64_t word = load_digits(at);
  int count = leading_digits(word);
  if (count == 0) return false;
  const char* next = at + count;
  const std::uint64_t integer = digits_value(word, count);
  if (*next != '.') {
    value = static_cast<double>(integer);
    at = next;
    return !is_digit(*next) && *next != 'e' && *next != 'E';
  }
  word = load_digits(++next);
  count = leading_digits(word);
  if (count == 0) return false;
  next += count;
  if (count == 8 || *next == 'e' || *next == 'E') return false;
  static constexpr std::array<std::uint64_t, 8> powers = {1,      10,      100,       1'000,
                                                          10'000, 100'000, 1'000'000, 10'000'000};
  const std::uint64_t power = powers[static_cast<std::size_t>(count)];
  value =
      static_cast<double>(integer * power + digits_value(word, count)) / static_cast<double>(power);
  at = next;
  return true;
}

/// Reads a weight that begins with a digit, or returns false. What ends it is for the caller to
/// see.
bool read_weight(const char*& at, const char* end, bool whole, double& value) {
  const char* next = at;
  if (!read_short_decimal(next, value)) {
    if (whole || !is_digit(*at)) return false;
    const auto [parsed, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) return false;
    next = parsed;
  } else if (whole && std::find(at, next, '.') != next) {
    return false;
  }
  at = next;
  return true;
}

/// The entries and lines that were parsed so far.
struct Parsed {
  NodeId* rows;
  NodeId* columns;
  double* weights;
  std::uint64_t entries = 0;
};

constexpr std::ptrdiff_t usual_line_most = 64;  ///< Room for all that is looked at eight by eight.

/// Parses usual lines from `at` on and returns where the first other line begins, or one that is
/// too close to `end` to look at as many characters as a usual line may have.
template <bool weighted>
const char* parse_usual_lines(const char* at, const char* end, const MatrixMarketHeader& header,
                              Parsed& parsed) {
  if constexpr (std::endian::native != std::endian::little) return at;
  const std::uint64_t size = header.node_count;
  const bool whole = header.field != MatrixMarketHeader::Field::real;
  NodeId* const rows = parsed.rows;
  NodeId* const columns = parsed.columns;
  std::uint64_t e = parsed.entries;
  while (end - at >= usual_line_most) {
    const char* next = at;
    std::uint64_t row = 0, column = 0;
    if (!read_index(next, row) || !is_blank(*next)) break;
    ++next;
    if (!read_index(next, column)) break;
    if constexpr (weighted) {
      if (!is_blank(*next)) break;
      ++next;
      if (!read_weight(next, end, whole, parsed.weights[e])) break;
      if (next == end) break;
    }
    if (*next == '\r' && next + 1 != end) ++next;
    if (*next != '\n' || row - 1 >= size || column - 1 >= size) break;
    rows[e] = static_cast<NodeId>(row - 1);
    columns[e] = static_cast<NodeId>(column - 1);
    ++e;
    at = next + 1;
  }
  parsed.entries = e;
  return at;
}

}  // namespace

std::optional<MatrixEntry> parse_entry_line(std::string_view text,
                                            const MatrixMarketHeader& header) {
  EntryLine line(text);
  line.skip_blanks();
  if (line.at_end() || line.at_comment()) return std::nullopt;
  MatrixEntry entry;
  entry.row =
      line.index(header.node_count, ParseFault::bad_row_index, ParseFault::row_out_of_range);
  entry.column =
      line.index(header.node_count, ParseFault::bad_column_index, ParseFault::column_out_of_range);
  if (header.field != MatrixMarketHeader::Field::pattern) entry.weight = line.weight(header.field);
  line.require_end();
  return entry;
}

void parse_entries(std::string_view text, const MatrixMarketHeader& header, EntriesResult& result) {
  constexpr std::size_t shortest_entry = 4;  // "1 1\n"
  const bool weighted = header.field != MatrixMarketHeader::Field::pattern;
  const std::size_t room = text.size() / shortest_entry + 1;
  result.rows.resize(room);
  result.columns.resize(room);
  result.weights.resize(weighted ? room : 0);
  result.lines = 0;
  result.others.clear();
  result.fault.reset();

  Parsed parsed{.rows = result.rows.data(),
                .columns = result.columns.data(),
                .weights = result.weights.data()};
  const char* at = text.data();
  const char* const text_end = at + text.size();
  while (at != text_end) {
    const std::uint64_t entries_before = parsed.entries;
    at = weighted ? parse_usual_lines<true>(at, text_end, header, parsed)
                  : parse_usual_lines<false>(at, text_end, header, parsed);
    result.lines += parsed.entries - entries_before;
    if (at == text_end) break;

    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(text_end - at)));
    const char* const line_end = newline != nullptr ? newline : text_end;
    ++result.lines;
    try {
      const auto entry = parse_entry_line({at, static_cast<std::size_t>(line_end - at)}, header);
      if (entry) {
        parsed.rows[parsed.entries] = entry->row;
        parsed.columns[parsed.entries] = entry->column;
        if (weighted) parsed.weights[parsed.entries] = entry->weight;
        ++parsed.entries;
      } else {
        result.others.push_back(static_cast<std::uint32_t>(result.lines));
      }
    } catch (LineFault& fault) {
      fault.line = result.lines;
      result.fault = std::move(fault);
      break;
    }
    at = newline != nullptr ? newline + 1 : text_end;
  }
  result.rows.resize(parsed.entries);
  result.columns.resize(parsed.entries);
  result.weights.resize(weighted ? parsed.entries : 0);
}

}  // namespace pagerank::io
