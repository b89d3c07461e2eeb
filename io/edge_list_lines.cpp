#include "io/edge_list_lines.hpp"

#include "io/usual_numbers.hpp"

namespace pagerank::io {
namespace {

/// As entry_lines.hpp asks for.
struct Syntax {
  using Id = std::uint64_t;

  bool has_weights;

  [[nodiscard]] bool weighted() const { return has_weights; }

  [[nodiscard]] std::optional<LinkEntry> any_line(std::string_view line) const {
    return parse_link_line(line, has_weights);
  }

  static constexpr std::ptrdiff_t usual_line_most = 80;  ///< Two ids of 20 digits, and a weight.

  /// "FROM TO\n" or "FROM TO WEIGHT\n".
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
    }
    if (*next == '\r' && next + 1 != end) [[unlikely]] {
      ++next;
    }
    if (*next != '\n') return false;
    at = next + 1;
    return true;
  }
};

}  // namespace

LinkLineKind kind_of_link_line(std::string_view line) {
  const std::string_view comment_marks = edge_list_rules.comment_marks;
  const auto is_comment = [&](std::string_view field) {
    return comment_marks.find(field.front()) != std::string_view::npos;
  };
  const std::string_view first = next_field(line);
  if (first.empty() || is_comment(first)) return LinkLineKind::none;
  (void)next_field(line);
  const std::string_view third = next_field(line);
  // (A comment behind a link is a fault, but no weight.)
  return third.empty() || is_comment(third) ? LinkLineKind::unweighted : LinkLineKind::weighted;
}

std::optional<LinkEntry> parse_link_line(std::string_view text, bool weighted) {
  LineFields line(text);
  line.skip_blanks();
  if (line.at_end() || line.at_one_of(edge_list_rules.comment_marks)) return std::nullopt;
  LinkEntry link;
  link.first = line.id(ParseFault::bad_first_id);
  link.second = line.id(ParseFault::bad_second_id);
  line.skip_blanks();
  if (weighted) {
    if (line.at_end()) line.refuse_here(ParseFault::missing_weight);
    link.weight = line.weight(false);
  } else if (!line.at_end() && !line.at_one_of(edge_list_rules.comment_marks)) {
    line.refuse_here(ParseFault::unexpected_weight);
  }
  line.require_end();
  return link;
}

void parse_links(std::string_view text, bool weighted, LinkEntries& result) {
  parse_entry_lines(text, Syntax{weighted}, result);
}

}  // namespace pagerank::io
