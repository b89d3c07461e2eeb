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

/// The top bit of each of the eight that is no digit, right up to the first such one; what lies
/// above it may be wrong.
std::uint64_t others_among(std::uint64_t word) {
  // Adding 0x76 carries into the top bit from 10 on, and into the next byte only from one that is
  // no digit.
  return ((word + 0x7676767676767676) | word) & 0x8080808080808080;
}

/// The value of eight digits: neighbours are joined to pairs, pairs to fours, fours to eight.
std::uint64_t value_of_eight(std::uint64_t word) {
  word = word * (1 + (10 << 8)) >> 8;
  word = (word & 0x00FF00FF00FF00FF) * (1 + (100 << 16)) >> 16;
  return (word & 0x0000FFFF0000FFFF) * (1 + (std::uint64_t{10'000} << 32)) >> 32;
}

/// The first digits of the eight: how many (0 .. 8), and their value.
struct Digits {
  int count;
  std::uint64_t value;
};
[[gnu::always_inline]] inline Digits leading_digits(std::uint64_t word) {
  const std::uint64_t others = others_among(word);
  if (others == 0) return {8, value_of_eight(word)};
  const int first_other = std::countr_zero(others);  // its top bit: 8 * count + 7
  // What is not there reads as leading zeros; nothing at all stays as it is, and is not looked at.
  return {first_other / 8, value_of_eight(word << ((7 - first_other) & 63))};
}

/// Reads a number of 1 to 10 digits at the front of at least 16 characters and moves behind it.
/// Returns false if there is none.
[[gnu::always_inline]] inline bool read_index(const char*& at, std::uint64_t& value) {
  const Digits digits = leading_digits(load_digits(at));
  value = digits.value;
  at += digits.count;
  if (digits.count == 8) [[unlikely]] {
    for (int more = 0; is_digit(*at); ++at) {
      if (++more > 2) return false;
      value = value * 10 + static_cast<unsigned char>(*at - '0');
    }
  }
  return digits.count != 0;
}

/// Reads digits[.digits], at most eight and seven of them, at the front of at least 24 characters.
/// Exact: numbers below 10^15 and powers of ten to 10^7 are doubles, and one division rounds once.
[[gnu::always_inline]] inline bool read_short_decimal(const char*& at, double& value) {
  const Digits before = leading_digits(load_digits(at));
  if (before.count == 0) return false;
  const char* next = at + before.count;
  // Signed, for processors turn those into floating point faster.
  const auto integer = static_cast<std::int64_t>(before.value);
  if (*next != '.') {
    value = static_cast<double>(integer);
    at = next;
    return !is_digit(*next) && *next != 'e' && *next != 'E';
  }
  const Digits after = leading_digits(load_digits(++next));
  next += after.count;
  if (after.count == 0 || after.count == 8 || *next == 'e' || *next == 'E') return false;
  struct Power {
    std::int64_t whole;
    double real;
  };
  static constexpr std::array<Power, 8> powers = {{{1, 1},
                                                   {10, 10},
                                                   {100, 100},
                                                   {1'000, 1'000},
                                                   {10'000, 10'000},
                                                   {100'000, 100'000},
                                                   {1'000'000, 1'000'000},
                                                   {10'000'000, 10'000'000}}};
  const Power& power = powers[static_cast<std::size_t>(after.count)];
  const auto fraction = static_cast<std::int64_t>(after.value);
  value = static_cast<double>(integer * power.whole + fraction) / power.real;
  at = next;
  return true;
}

/// Reads a number that begins with a digit as std::from_chars does, or returns false.
bool read_long_decimal(const char*& at, const char* end, double& value) {
  if (!is_digit(*at)) return false;
  const auto [parsed, error] = std::from_chars(at, end, value);
  at = parsed;
  return error == std::errc{};
}

/// Reads a weight that begins with a digit, or returns false. What ends it is for the caller to
/// see.
[[gnu::always_inline]] inline bool read_weight(const char*& at, const char* end, bool whole,
                                               double& value) {
  const char* next = at;
  if (read_short_decimal(next, value)) {
    if (whole && std::find(at, next, '.') != next) return false;
  } else {
    next = at;
    if (whole || !read_long_decimal(next, end, value)) return false;
  }
  at = next;
  return true;
}

/// A stretch of whole lines, and where its entries go.
struct Stretch {
  const char* at;
  const char* end;
  NodeId* rows;
  NodeId* columns;
  double* weights;
  std::uint64_t entries = 0;
  std::uint64_t lines = 0;
  std::vector<std::uint32_t> others = {};  ///< As in EntriesResult,
  std::optional<LineFault> fault = {};     ///< and so is this; nothing is left to parse then.
};

constexpr std::ptrdiff_t usual_line_most = 64;  ///< Room for all that is looked at eight by eight.

/// Parses the line at `at` if it is a usual one, moves behind it and returns true. There are at
/// least usual_line_most characters before `end`.
template <bool weighted>
[[gnu::always_inline]] inline bool parse_usual_line(const char*& at, const char* end,
                                                    std::uint64_t size, bool whole, NodeId* row_to,
                                                    NodeId* column_to, double* weight_to) {
  const char* next = at;
  std::uint64_t row = 0, column = 0;
  if (!read_index(next, row) || !is_blank(*next)) return false;
  ++next;
  if (!read_index(next, column)) return false;
  if constexpr (weighted) {
    if (!is_blank(*next)) return false;
    ++next;
    if (!read_weight(next, end, whole, *weight_to) || next == end) return false;
  }
  if (*next == '\r' && next + 1 != end) [[unlikely]] {
    ++next;
  }
  if (*next != '\n' || row - 1 >= size || column - 1 >= size) return false;
  *row_to = static_cast<NodeId>(row - 1);
  *column_to = static_cast<NodeId>(column - 1);
  at = next + 1;
  return true;
}

/// Parses usual lines of both stretches in turns, as long as there are: where a line begins is
/// known when the one before is read to its end, and a processor that has two such chains to follow
/// waits for neither.
template <bool weighted>
void parse_usual_lines(Stretch& one, Stretch& two, const MatrixMarketHeader& header) {
  if constexpr (std::endian::native != std::endian::little) return;
  const std::uint64_t size = header.node_count;
  const bool whole = header.field != MatrixMarketHeader::Field::real;
  const char *at1 = one.at, *at2 = two.at;
  std::uint64_t e1 = one.entries, e2 = two.entries;
  while (one.end - at1 >= usual_line_most && two.end - at2 >= usual_line_most) {
    if (!parse_usual_line<weighted>(at1, one.end, size, whole, one.rows + e1, one.columns + e1,
                                    weighted ? one.weights + e1 : nullptr)) {
      break;
    }
    ++e1;
    if (!parse_usual_line<weighted>(at2, two.end, size, whole, two.rows + e2, two.columns + e2,
                                    weighted ? two.weights + e2 : nullptr)) {
      break;
    }
    ++e2;
  }
  one.lines += e1 - std::exchange(one.entries, e1);
  two.lines += e2 - std::exchange(two.entries, e2);
  one.at = at1;
  two.at = at2;
}

/// The same for one stretch.
template <bool weighted>
void parse_usual_lines(Stretch& stretch, const MatrixMarketHeader& header) {
  if constexpr (std::endian::native != std::endian::little) return;
  const bool whole = header.field != MatrixMarketHeader::Field::real;
  while (stretch.end - stretch.at >= usual_line_most &&
         parse_usual_line<weighted>(stretch.at, stretch.end, header.node_count, whole,
                                    stretch.rows + stretch.entries,
                                    stretch.columns + stretch.entries,
                                    weighted ? stretch.weights + stretch.entries : nullptr)) {
    ++stretch.entries;
    ++stretch.lines;
  }
}

/// Parses the next line, if there is one, whatever it is.
void parse_any_line(Stretch& stretch, const MatrixMarketHeader& header) {
  if (stretch.at == stretch.end) return;
  const auto left = static_cast<std::size_t>(stretch.end - stretch.at);
  const auto* newline = static_cast<const char*>(std::memchr(stretch.at, '\n', left));
  const char* const line_end = newline != nullptr ? newline : stretch.end;
  ++stretch.lines;
  try {
    const std::optional<MatrixEntry> entry =
        parse_entry_line({stretch.at, static_cast<std::size_t>(line_end - stretch.at)}, header);
    stretch.at = newline != nullptr ? newline + 1 : stretch.end;
    if (!entry) {
      stretch.others.push_back(static_cast<std::uint32_t>(stretch.lines));
      return;
    }
    stretch.rows[stretch.entries] = entry->row;
    stretch.columns[stretch.entries] = entry->column;
    if (header.field != MatrixMarketHeader::Field::pattern) {
      stretch.weights[stretch.entries] = entry->weight;
    }
    ++stretch.entries;
  } catch (LineFault& fault) {
    fault.line = stretch.lines;
    stretch.fault = std::move(fault);
    stretch.at = stretch.end;
  }
}

template <bool weighted>
void parse_stretches(Stretch& one, Stretch& two, const MatrixMarketHeader& header) {
  while (one.at != one.end && two.at != two.end) {
    parse_usual_lines<weighted>(one, two, header);
    parse_any_line(one, header);
    parse_any_line(two, header);
  }
  for (Stretch* const rest : {&one, &two}) {
    while (rest->at != rest->end) {
      parse_usual_lines<weighted>(*rest, header);
      parse_any_line(*rest, header);
    }
  }
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
  const std::size_t middle = text.find('\n', text.size() / 2);
  const std::size_t half = middle == std::string_view::npos ? text.size() : middle + 1;
  const std::size_t half_room = half / shortest_entry + 1;
  const std::size_t room = half_room + (text.size() - half) / shortest_entry + 1;
  result.rows.resize(room);
  result.columns.resize(room);
  result.weights.resize(weighted ? room : 0);
  const auto stretch = [&](std::size_t begin, std::size_t end, std::size_t first_entry) {
    return Stretch{.at = text.data() + begin,
                   .end = text.data() + end,
                   .rows = result.rows.data() + first_entry,
                   .columns = result.columns.data() + first_entry,
                   .weights = weighted ? result.weights.data() + first_entry : nullptr};
  };
  Stretch one = stretch(0, half, 0), two = stretch(half, text.size(), half_room);
  weighted ? parse_stretches<true>(one, two, header) : parse_stretches<false>(one, two, header);

  result.lines = one.lines;
  result.others = std::move(one.others);
  result.fault = std::move(one.fault);
  std::uint64_t entries = one.entries;
  if (!result.fault) {
    const auto join = [&two, &one](auto* first, const auto* second) {
      std::memmove(first + one.entries, second, two.entries * sizeof *first);
    };
    join(one.rows, two.rows);
    join(one.columns, two.columns);
    if (weighted) join(one.weights, two.weights);
    entries += two.entries;
    for (const std::uint32_t line : two.others) {
      result.others.push_back(static_cast<std::uint32_t>(one.lines) + line);
    }
    result.lines += two.lines;
    result.fault = std::move(two.fault);
    if (result.fault) result.fault->line += one.lines;
  }
  result.rows.resize(entries);
  result.columns.resize(entries);
  result.weights.resize(weighted ? entries : 0);
}

}  // namespace pagerank::io
