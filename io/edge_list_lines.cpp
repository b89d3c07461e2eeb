#include "io/edge_list_lines.hpp"

#include "io/usual_numbers.hpp"

namespace pagerank::io {
namespace {

/// As entry_lines.hpp asks for.
struct Syntax {
  using Id = std::uint64_t;

  LinkColumns columns;
  bool timed = columns == LinkColumns::weights_and_times;

  [[nodiscard]] bool weighted() const { return columns != LinkColumns::ids; }

  [[nodiscard]] std::optional<LinkEntry> any_line(std::string_view line) const {
    return parse_link_line(line, columns);
  }

  static constexpr bool whole_weights() { return false; }
  [[nodiscard]] bool more_fields() const { return timed; }
  [[nodiscard]] static usual::IdRange short_ids() { return {}; }

  static constexpr std::ptrdiff_t usual_line_most = 80;  ///< Two ids of 20 digits, and a weight.

  /// "FROM TO\n", "FROM TO WEIGHT\n" or "FROM TO WEIGHT TIME\n".
  template <bool weighted>
  [[gnu::always_inline]] bool usual_line(const char*& at, const char* end, std::uint64_t* from,
                                         std::uint64_t* to, double* weight) const {
    const char* next = at;
    if (!usual::read_id(next, *from) || !is_blank(*next)) return false;
    ++next;
    if (!usual::read_id(next, *to)) return false;
    if constexpr (weighted) {
      if (!is_blank(*next)) return false;
      ++next;
      if (!usual::read_weight(next, end, false, *weight) || next == end) return false;
      if (timed && !skip_time(next, end)) return false;
    }
    if (*next == '\r' && next + 1 != end) [[unlikely]] {
      ++next;
    }
    if (*next != '\n') return false;
    at = next + 1;
    return true;
  }

  /// A blank and whole seconds since 1970, with more of the line behind them.
  [[gnu::always_inline]] static bool skip_time(const char*& at, const char* end) {
    if (!is_blank(*at)) return false;
    const char* next = at + 1;
    while (next != end && is_digit(*next)) ++next;
    if (next == at + 1 || next == end) return false;
    at = next;
    return true;
  }
};

}  // namespace

bool is_konect_header(std::string_view line) {
  if (next_field(line) != "%") return false;
  const std::string_view format = next_field(line);
  return format == "sym" || format == "asym" || format == "bip";
}

std::optional<LinkColumns> columns_of_link_line(std::string_view line, bool konect) {
  // (A comment behind a link is a fault, but no weight.)
  const auto at_end = [](std::string_view field) {
    return field.empty() ||
           edge_list_rules.comment_marks.find(field.front()) != std::string_view::npos;
  };
  if (at_end(next_field(line))) return std::nullopt;
  (void)next_field(line);
  if (at_end(next_field(line))) return LinkColumns::ids;
  return konect && !at_end(next_field(line)) ? LinkColumns::weights_and_times
                                             : LinkColumns::weights;
}

std::optional<LinkEntry> parse_link_line(std::string_view text, LinkColumns columns) {
  LineFields line(text);
  line.skip_blanks();
  if (line.at_end() || line.at_one_of(edge_list_rules.comment_marks)) return std::nullopt;
  LinkEntry link;
  link.first = line.id(ParseFault::bad_first_id);
  link.second = line.id(ParseFault::bad_second_id);
  line.skip_blanks();
  if (columns != LinkColumns::ids) {
    if (line.at_end()) line.refuse_here(ParseFault::missing_weight);
    link.weight = line.weight(false);
    if (columns == LinkColumns::weights_and_times) line.skip_time();
  } else if (!line.at_end() && !line.at_one_of(edge_list_rules.comment_marks)) {
    line.refuse_here(ParseFault::unexpected_weight);
  }
  line.require_end();
  return link;
}

void parse_links(std::string_view text, LinkColumns columns, LinkEntries& result) {
  parse_entry_lines(text, Syntax{columns}, result);
}

}  // namespace pagerank::io
