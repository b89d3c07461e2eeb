#include "io/matrix_market_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "core/types.hpp"

namespace pagerank::io {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

template <std::size_t n>
bool is_one_of(const std::string& word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void MatrixMarketHeaderParser::refuse(ParseFault fault, std::string detail) const {
  throw LineFault{header_.lines, fault, std::move(detail)};
}

void MatrixMarketHeaderParser::end_of_input() const {
  if (header_.lines == 0) throw LineFault{1, ParseFault::bad_banner, "the file is empty"};
  refuse(ParseFault::missing_size_line, "");
}

std::optional<MatrixMarketHeader> MatrixMarketHeaderParser::feed(std::string_view line) {
  ++header_.lines;
  try {
    return parse(line);
  } catch (const LineFault&) {
    const std::optional<LineFault> binary = binary_data_in(line);
    if (!binary) throw;
    throw LineFault{header_.lines, binary->fault, binary->detail};
  }
}

std::optional<MatrixMarketHeader> MatrixMarketHeaderParser::parse(std::string_view line) {
  if (header_.lines == 1) {
    parse_banner(line);
    return std::nullopt;
  }
  std::string_view rest = line;
  const std::string_view first = next_field(rest);
  if (first.empty() || first.front() == '%') return std::nullopt;
  parse_size_line(line);
  return header_;
}

void MatrixMarketHeaderParser::parse_banner(std::string_view line) {
  std::string_view rest = line;
  std::string_view word;  // as it stands in the file
  const auto next = [&](const char* what) {
    word = next_field(rest);
    if (word.empty()) {
      refuse(ParseFault::bad_banner, "the line ends before " + std::string(what));
    }
    return lower(word);
  };
  if (lower(next_field(rest)) != "%%matrixmarket") {
    refuse(ParseFault::bad_banner, "found " + quoted(line));
  }

  const std::string object = next("'matrix'");
  if (object == "vector") refuse(ParseFault::vector_object, "");
  if (object != "matrix") refuse(ParseFault::unknown_object, "found " + quoted(word));

  const std::string format = next("'coordinate'");
  if (format == "array") refuse(ParseFault::array_format, "");
  if (format != "coordinate") refuse(ParseFault::unknown_format, "found " + quoted(word));

  const std::string field = next("FIELD");
  using Field = MatrixMarketHeader::Field;
  if (field == "pattern") {
    header_.field = Field::pattern;
  } else if (field == "integer") {
    header_.field = Field::integer;
  } else if (field == "unsigned-integer") {
    header_.field = Field::unsigned_integer;
  } else if (is_one_of<2>(field, {"real", "double"})) {  // some writers name real so
    header_.field = Field::real;
  } else {
    refuse(field == "complex" ? ParseFault::complex_field : ParseFault::unknown_field,
           "found " + quoted(word));
  }

  const std::string symmetry = next("SYMMETRY");
  if (symmetry == "skew-symmetric") refuse(ParseFault::skew_symmetric, "");
  if (symmetry == "hermitian") refuse(ParseFault::hermitian, "");
  if (!is_one_of<2>(symmetry, {"general", "symmetric"})) {
    refuse(ParseFault::unknown_symmetry, "found " + quoted(word));
  }
  header_.symmetric = symmetry == "symmetric";
  if (const std::string_view extra = next_field(rest); !extra.empty()) {
    refuse(ParseFault::trailing_characters, "found " + quoted(extra));
  }
}

void MatrixMarketHeaderParser::parse_size_line(std::string_view line) {
  std::string_view rest = line;
  std::array<std::uint64_t, 3> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string_view field = next_field(rest);
    const auto [end, error] =
        std::from_chars(field.data(), field.data() + field.size(), sizes.at(i));
    if (field.empty() || end != field.data() + field.size() ||
        error == std::errc::invalid_argument) {
      refuse(ParseFault::bad_size_line, "found " + quoted(line));
    }
    if (error == std::errc::result_out_of_range || (i < 2 && sizes.at(i) > max_node_count)) {
      refuse(i < 2 ? ParseFault::too_many_nodes : ParseFault::entry_count_too_large,
             "found " + quoted(field));
    }
  }
  if (const std::string_view extra = next_field(rest); !extra.empty()) {
    refuse(ParseFault::trailing_characters, "found " + quoted(extra));
  }
  if (sizes[0] != sizes[1]) {
    refuse(ParseFault::not_square, "found " + std::to_string(sizes[0]) + " rows and " +
                                       std::to_string(sizes[1]) + " columns");
  }
  if (sizes[0] == 0) refuse(ParseFault::no_nodes, "");
  header_.node_count = sizes[0];
  header_.entries = sizes[2];
}

}  // namespace pagerank::io
