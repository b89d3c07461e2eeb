#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/entry_lines.hpp"
#include "io/line_blocks.hpp"

namespace pagerank::io {

/// Edge lists, as the Stanford Network Analysis Platform (SNAP) and the Koblenz Network Collection
/// (KONECT) have them: lines "FROM TO" or, all of them, "FROM TO WEIGHT". Ids are any whole numbers
/// below 2^64. Lines that begin with '#' (SNAP) or '%' (KONECT) are comments, whatever they claim.
inline constexpr TextRules edge_list_rules{.comment_marks = "#%"};

using LinkEntry = Entry<std::uint64_t>;
using LinkEntries = ParsedEntries<std::uint64_t>;

/// What a line looks like, whether or not its numbers can be read.
enum class LinkLineKind { none, unweighted, weighted };  ///< none: blank or a comment.
[[nodiscard]] LinkLineKind kind_of_link_line(std::string_view line);

/// The link on one line (without its newline), or nothing if it is blank or a comment. Throws
/// LineFault, with line 1, at what is neither, or has a weight where it should not.
[[nodiscard]] std::optional<LinkEntry> parse_link_line(std::string_view line, bool weighted);

/// parse_entry_lines() for lines all of which have weights, or none.
void parse_links(std::string_view text, bool weighted, LinkEntries& result);

}  // namespace pagerank::io
