#include "tests/simple_reader.hpp"

#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "io/line_blocks.hpp"
#include "io/matrix_market_entries.hpp"

namespace pagerank::tests {
namespace {

using io::LineFault;
using io::ParseFault;

/// Throws a fault of line 1, or what every line that is no text is called: a control character in
/// it, or a byte that UTF-8 has no place for (overlong forms and the like are not looked for).
[[noreturn]] void refuse_line(std::string_view line, ParseFault fault, const std::string& detail) {
  std::size_t lead = 0;
  int more = 0;  // bytes that belong to the character that began at `lead`
  const auto binary = [line](std::size_t at) {
    throw LineFault{1, ParseFault::binary_data,
                    line[at] == '\0' ? "a NUL byte" : "found " + io::quoted(line.substr(at, 1))};
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const int c = static_cast<unsigned char>(line[i]);
    const bool continues = c >= 128 && c < 192;
    if (more > 0 && !continues) binary(lead);
    if (more > 0) {
      --more;
      continue;
    }
    if (c < 9 || (c > 13 && c < 32) || c == 127 || continues || c >= 248) binary(i);
    lead = i;
    more = c >= 240 ? 3 : c >= 224 ? 2 : c >= 192 ? 1 : 0;
  }
  if (more > 0) binary(lead);
  throw LineFault{1, fault, detail};
}

/// Throws what is wrong with a field, or with a line that lacks it.
/// `goes_on`: more could follow what is there of the field.
[[noreturn]] void refuse(std::string_view line, ParseFault fault, const std::string& field,
                         bool goes_on = false) {
  try {
    refuse_line(line, fault, field.empty() ? "the line ends" : "found " + io::quoted(field));
  } catch (LineFault& refused) {
    refused.line_ended =
        refused.fault == fault && (field.empty() || (goes_on && line.ends_with(field)));
    throw;
  }
}

/// The same of the front of a line that is too long, which may end within a character.
[[noreturn]] void refuse_front(std::string_view front, std::uint64_t number, ParseFault fault,
                               const std::string& detail) {
  const auto top_bits = [&front] { return static_cast<unsigned char>(front.back()) >> 6; };
  int continuing = 0;
  for (; continuing < 3 && top_bits() == 2; ++continuing) front.remove_suffix(1);
  if (top_bits() == 3) front.remove_suffix(1);
  try {
    refuse_line(front, fault, detail);
  } catch (LineFault& refused) {
    refused.line = number;
    throw;
  }
}

/// A line that is long, and no comment, with one blank for each run of them, which has to be short
/// then; others as they are. The line that nothing makes a comment is the banner.
std::string_view with_single_blanks(std::string_view line, std::uint64_t number,
                                    std::string_view comment_marks, std::string& single) {
  if (line.size() < io::LineBlocks::longest_line) return line;
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  if (first != line.end() && comment_marks.find(*first) != std::string_view::npos) return line;
  single.clear();
  for (const char c : line) {
    if (!is_blank(c) || single.empty() || !is_blank(single.back())) single += c;
  }
  const std::string_view front =
      std::string_view(single).substr(0, io::LineBlocks::longest_line / 2);
  if (front.size() == single.size()) return single;
  if (!comment_marks.empty()) refuse_front(front, number, ParseFault::line_too_long, "");
  refuse_front(front, number, ParseFault::bad_banner, "found " + io::quoted(front));
}

/// Cuts the next line off the front of the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  return line;
}

/// The fault of a line, the `number`th, of a text that holds it to its end.
LineFault fault_of_line(LineFault fault, std::uint64_t number, std::string_view line,
                        std::string_view whole_text) {
  fault.line = number;
  const bool has_no_newline = line.data() + line.size() == whole_text.data() + whole_text.size();
  if (has_no_newline && fault.line_ended) {
    fault.detail = io::describe(fault.fault);
    fault.fault = ParseFault::cut_off_entry;
  }
  return fault;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') {
      fields.back() += c;
    } else if (!fields.back().empty()) {
      fields.emplace_back();
    }
  }
  if (fields.back().empty()) fields.pop_back();
  return fields;
}

/// Whether the text from `at` on is digits, at least one; moves behind them.
bool skip_digits(const std::string& text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at > begin;
}

std::uint64_t simple_id(std::string_view line, const std::string& field, ParseFault fault) {
  const std::string digits = field.substr(field.starts_with('+') ? 1 : 0);
  std::size_t at = 0;
  if (!skip_digits(digits, at) || at != digits.size()) refuse(line, fault, field);
  errno = 0;
  const std::uint64_t id = std::strtoull(digits.c_str(), nullptr, 10);
  if (errno == ERANGE) refuse(line, ParseFault::id_too_large, field);
  return id;
}

/// Whether it is a number as strtod() and std::from_chars() agree on it: no hexadecimal.
bool is_decimal(const std::string& number) {
  std::size_t at = number.starts_with('-') ? 1 : 0;
  const bool before = skip_digits(number, at);
  bool after = false;
  if (at < number.size() && number[at] == '.') after = skip_digits(number, ++at);
  if (!before && !after) return false;
  if (at < number.size() && (number[at] == 'e' || number[at] == 'E')) {
    ++at;
    if (at < number.size() && (number[at] == '+' || number[at] == '-')) ++at;
    if (!skip_digits(number, at)) return false;
  }
  return at == number.size();
}

/// "inf", "infinity", "nan", "nan(...)", perhaps negative, in any case.
bool is_not_finite_word(std::string word) {
  if (word.starts_with('-')) word.erase(0, 1);
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (word == "inf" || word == "infinity" || word == "nan") return true;
  if (!word.starts_with("nan(") || !word.ends_with(')')) return false;
  return std::all_of(word.begin() + 4, word.end() - 1, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_';
  });
}

/// `whole`: of digits only.
double simple_weight(std::string_view line, const std::string& field, bool whole) {
  const bool plus = field.size() > 1 && field[0] == '+' && field[1] != '-';
  const std::string number = field.substr(plus ? 1 : 0);
  if (is_not_finite_word(number)) refuse(line, ParseFault::weight_not_finite, field);
  if (!is_decimal(number)) {
    const bool plus_alone = field == "+" || field == "+.";
    const bool begins_one = is_decimal((plus_alone ? field.substr(1) : number) + "1");
    refuse(line, ParseFault::bad_weight, field, begins_one);
  }
  const double weight = std::strtod(number.c_str(), nullptr);
  if (!std::isfinite(weight)) refuse(line, ParseFault::weight_not_finite, field);
  if (whole && number.find_first_not_of("0123456789", number.starts_with('-') ? 1 : 0) !=
                   std::string::npos) {
    refuse(line, ParseFault::fractional_weight, field);
  }
  const std::string digits = number.substr(0, number.find_first_of("eE"));
  if (digits.starts_with('-') && digits.find_first_of("123456789") != std::string::npos) {
    refuse(line, ParseFault::negative_weight, field);
  }
  return std::fabs(weight);
}

// Matrix Market.

NodeId simple_index(std::string_view line, const std::string& field, std::uint64_t size,
                    ParseFault not_a_number, ParseFault out_of_range) {
  const bool minus = field.starts_with('-');
  const std::string digits = field.substr(minus || field.starts_with('+') ? 1 : 0);
  std::size_t at = 0;
  if (!skip_digits(digits, at) || at != digits.size()) refuse(line, not_a_number, field);
  errno = 0;
  const std::uint64_t index = std::strtoull(digits.c_str(), nullptr, 10);
  if (!minus && errno == ERANGE) out_of_range = ParseFault::index_too_large;
  if (minus || errno == ERANGE || index == 0 || index > size) {
    refuse_line(line, out_of_range,
                "found " + io::quoted(field) + ", expected 1 to " + std::to_string(size));
  }
  return static_cast<NodeId>(index - 1);
}

/// Nothing of a line that is blank or a comment.
std::optional<io::MatrixEntry> simple_entry(std::string_view line,
                                            const io::MatrixMarketHeader& header) {
  using Field = io::MatrixMarketHeader::Field;
  std::vector<std::string> fields = fields_of(line);
  if (fields.empty() || fields[0].starts_with('%')) return std::nullopt;
  const std::size_t columns = header.field == Field::pattern ? 2 : 3;
  const std::size_t given = fields.size();
  fields.resize(std::max(given, columns));
  io::MatrixEntry entry;
  entry.first = simple_index(line, fields[0], header.node_count, ParseFault::bad_row_index,
                             ParseFault::row_out_of_range);
  entry.second = simple_index(line, fields[1], header.node_count, ParseFault::bad_column_index,
                              ParseFault::column_out_of_range);
  if (columns == 3) entry.weight = simple_weight(line, fields[2], header.field != Field::real);
  if (given > columns) refuse(line, ParseFault::trailing_characters, fields[columns]);
  return entry;
}

io::MatrixMarketGraph read(std::string_view text, SourceIndex source_index) {
  const std::string_view whole_text = text;
  io::MatrixMarketHeaderParser header_parser;
  std::optional<io::MatrixMarketHeader> header;
  EdgeList edges;
  std::uint64_t lines = 0;
  std::string single;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool banner = ++lines == 1;
    const std::string_view short_line = with_single_blanks(line, lines, banner ? "" : "%", single);
    if (!header) {
      header = header_parser.feed(short_line);
      continue;
    }
    try {
      const std::optional<io::MatrixEntry> entry = simple_entry(short_line, *header);
      if (!entry) continue;
      if (edges.entry_count() == header->entries) {
        throw LineFault{1, ParseFault::too_many_entries,
                        std::to_string(header->entries) + " were declared"};
      }
      edges.add_entry(source_index, entry->first, entry->second);
      if (header->field != io::MatrixMarketHeader::Field::pattern) {
        edges.weights.push_back(entry->weight);
      }
    } catch (const LineFault& fault) {
      throw fault_of_line(fault, lines, line, whole_text);
    }
  }
  if (!header) header_parser.end_of_input();
  constexpr std::size_t shortest_entry = 4;  // "1 1" and a newline
  if (edges.entry_count() < header->entries &&
      header->entries > whole_text.size() / shortest_entry + 1) {
    throw LineFault{
        header->lines, ParseFault::entries_exceed_text,
        std::to_string(header->entries) + " in " + std::to_string(whole_text.size()) + " bytes"};
  }
  if (edges.entry_count() < header->entries) {
    throw LineFault{
        lines, ParseFault::too_few_entries,
        "found " + std::to_string(edges.entry_count()) + " of " + std::to_string(header->entries)};
  }
  edges.node_count = static_cast<NodeId>(header->node_count);
  edges.undirected = header->symmetric;
  return {*header, std::move(edges)};
}

// Edge lists.

void require_time(std::string_view line, const std::string& field) {
  if (field.empty()) refuse(line, ParseFault::missing_time, field);
  const bool plus = field.size() > 1 && field[0] == '+' && field[1] != '-';
  if (!is_decimal(field.substr(plus ? 1 : 0))) refuse(line, ParseFault::bad_time, field);
}

bool equal_but_for_case(const std::string& a, const std::string& b) {
  return a.size() == b.size() && strcasecmp(a.c_str(), b.c_str()) == 0;  // a may hold a NUL
}

struct SimpleLink {
  std::uint64_t source, target;
};

io::LabelledEdgeList read_edges(std::string_view text, SourceIndex source_index) {
  const std::string_view whole_text = text;
  const auto is_comment = [](const std::string& field) {
    return field[0] == '#' || field[0] == '%';
  };
  std::vector<SimpleLink> links;
  EdgeList edges;
  std::uint64_t lines = 0;
  bool konect = false;
  std::size_t columns = 0;  // 2 to 4, once known
  std::string single;
  while (!text.empty()) {
    const std::string_view whole_line = take_line(text);
    const std::string_view line = with_single_blanks(whole_line, ++lines, "#%", single);
    const std::vector<std::string> fields = fields_of(line);
    try {
      std::size_t marks = 0;
      while (!fields.empty() && marks < fields[0].size() && fields[0][marks] == '%') ++marks;
      if (columns == 0 && marks > 0 &&
          equal_but_for_case(fields[0].substr(marks), "MatrixMarket")) {
        throw LineFault{1, ParseFault::banner_in_edge_list, ""};
      }
      const auto field = [&](std::size_t f) { return f < fields.size() ? fields[f] : ""; };
      if (field(0) == "%" && (field(1) == "sym" || field(1) == "asym" || field(1) == "bip")) {
        konect = true;
      }
      if (fields.empty() || is_comment(fields[0])) continue;
      if (columns == 0) {
        columns = fields.size() > 2 && !is_comment(fields[2]) ? 3 : 2;
        if (konect && columns == 3 && fields.size() > 3 && !is_comment(fields[3])) columns = 4;
      }
      SimpleLink link{simple_id(line, field(0), ParseFault::bad_first_id),
                      simple_id(line, field(1), ParseFault::bad_second_id)};
      if (source_index == SourceIndex::column) std::swap(link.source, link.target);
      if (columns > 2) {
        if (fields.size() == 2) refuse(line, ParseFault::missing_weight, "");
        edges.weights.push_back(simple_weight(line, fields[2], false));
        if (columns == 4) require_time(line, field(3));
      } else if (fields.size() > 2 && !is_comment(fields[2])) {
        refuse(line, ParseFault::unexpected_weight, fields[2]);
      }
      if (fields.size() > columns) {
        refuse(line, ParseFault::trailing_characters, fields[columns]);
      }
      links.push_back(link);
    } catch (const LineFault& fault) {
      throw fault_of_line(fault, lines, whole_line, whole_text);
    }
  }
  if (links.empty()) {
    throw LineFault{std::max<std::uint64_t>(lines, 1), ParseFault::no_links, ""};
  }
  std::map<std::uint64_t, NodeId> nodes;
  for (const SimpleLink& link : links) nodes[link.source] = nodes[link.target] = 0;
  NodeLabels labels;
  for (auto& [label, node] : nodes) {
    node = static_cast<NodeId>(labels.size());
    labels.push_back(label);
  }
  if (labels.front() == 1 && labels.back() == labels.size()) labels.clear();
  for (const SimpleLink& link : links) {
    edges.sources.push_back(nodes.at(link.source));
    edges.targets.push_back(nodes.at(link.target));
  }
  edges.node_count = static_cast<NodeId>(nodes.size());
  return {std::move(edges), std::move(labels)};
}

/// Lets a LineFault out as the ParseError of a file.
template <class Read>
auto name_fault(const std::string& name, Read read) {
  try {
    return read();
  } catch (const LineFault& fault) {
    throw io::ParseError(name, fault.line, fault.fault, fault.detail);
  }
}

}  // namespace

io::MatrixMarketGraph simple_read(const std::string& text, const std::string& name,
                                  SourceIndex source_index) {
  return name_fault(name, [&] { return read(text, source_index); });
}

io::LabelledEdgeList simple_read_edges(const std::string& text, const std::string& name,
                                       SourceIndex source_index) {
  return name_fault(name, [&] { return read_edges(text, source_index); });
}

}  // namespace pagerank::tests
