#include "io/input_error.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace pagerank::io {

void throw_not_opened(const std::string& name, int error) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    throw std::system_error(error, std::generic_category(), name);
  }
  throw InputError(name + ": " + std::strerror(error));
}

std::string_view describe(ParseFault fault) {
  switch (fault) {
    case ParseFault::bad_banner:
      return "expected the banner '%%MatrixMarket matrix coordinate FIELD SYMMETRY'";
    case ParseFault::unknown_object:
      return "expected the object 'matrix'";
    case ParseFault::vector_object:
      return "a vector is not a graph, expected the object 'matrix'";
    case ParseFault::unknown_format:
      return "expected the format 'coordinate'";
    case ParseFault::array_format:
      return "dense (array) matrices are not read as graphs, expected the format 'coordinate'";
    case ParseFault::unknown_field:
      return "expected the field 'pattern', 'integer', 'unsigned-integer' or 'real'";
    case ParseFault::complex_field:
      return "PageRank has no meaning for complex weights, expected 'pattern', 'integer', "
             "'unsigned-integer' or 'real'";
    case ParseFault::unknown_symmetry:
      return "expected the symmetry 'general' or 'symmetric'";
    case ParseFault::skew_symmetric:
      return "PageRank has no meaning for skew-symmetric matrices (their weights are negative), "
             "expected 'general' or 'symmetric'";
    case ParseFault::hermitian:
      return "PageRank has no meaning for hermitian matrices, expected 'general' or 'symmetric'";
    case ParseFault::missing_size_line:
      return "the file ends before the size line 'ROWS COLUMNS ENTRIES'";
    case ParseFault::bad_size_line:
      return "expected the size line 'ROWS COLUMNS ENTRIES'";
    case ParseFault::entry_count_too_large:
      return "a number of entries above 18446744073709551615, the largest that can be counted";
    case ParseFault::not_square:
      return "the adjacency matrix of a graph is square";
    case ParseFault::no_nodes:
      return "the graph has no nodes";
    case ParseFault::too_many_nodes:
      return "more nodes than the 4294967294 that can be held";
    case ParseFault::bad_row_index:
      return "expected a row index";
    case ParseFault::bad_column_index:
      return "expected a column index";
    case ParseFault::row_out_of_range:
      return "row index outside the matrix";
    case ParseFault::column_out_of_range:
      return "column index outside the matrix";
    case ParseFault::index_too_large:
      return "an index above 18446744073709551615, the largest that can be counted";
    case ParseFault::bad_first_id:
      return "expected a line 'FROM TO' or 'FROM TO WEIGHT' of whole node ids";
    case ParseFault::bad_second_id:
      return "expected a second node id, a whole number";
    case ParseFault::id_too_large:
      return "node id above 18446744073709551615, the largest that can be held";
    case ParseFault::bad_weight:
      return "expected a number as weight";
    case ParseFault::fractional_weight:
      return "expected a whole number as weight, the header says integer";
    case ParseFault::negative_weight:
      return "PageRank has no meaning for negative weights";
    case ParseFault::weight_not_finite:
      return "expected a finite weight";
    case ParseFault::missing_weight:
      return "expected a weight: the first link has one";
    case ParseFault::unexpected_weight:
      return "expected the end of the line: the first link has no weight";
    case ParseFault::missing_time:
      return "expected a time behind the weight: the first link has one";
    case ParseFault::bad_time:
      return "expected a number as time";
    case ParseFault::trailing_characters:
      return "expected the end of the line";
    case ParseFault::cut_off_entry:
      return "the file ends in the middle of an entry";
    case ParseFault::too_few_entries:
      return "the file ends before the last entry";
    case ParseFault::entries_exceed_text:
      return "the size line says more entries than there is text for";
    case ParseFault::too_many_entries:
      return "more entries than the size line says";
    case ParseFault::no_links:
      return "the graph has no links, expected lines 'FROM TO' or 'FROM TO WEIGHT'";
    case ParseFault::banner_in_edge_list:
      return "this is a Matrix Market file, not an edge list";
    case ParseFault::binary_data:
      return "expected text, found binary data";
    case ParseFault::line_too_long:
      return "expected at most half a MiB besides repeated blanks in a line of 1 MiB and more";
  }
  return "unreadable";
}

ParseError::ParseError(const std::string& file, std::uint64_t line, ParseFault fault,
                       const std::string& detail)
    : InputError(file + ":" + std::to_string(line) + ": " + std::string(describe(fault)) +
                 (detail.empty() ? "" : ": " + detail)),
      line_(line),
      fault_(fault) {}

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 32;
  constexpr char hex[] = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return out + (text.size() > most ? "...'" : "'");
}

}  // namespace pagerank::io
