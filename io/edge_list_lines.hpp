#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/entry_lines.hpp"
#include "io/line_blocks.hpp"

namespace pagerank::io {

/// Edge lists, as the Stanford Network Analysis Platform (SNAP) and the Koblenz Network Collection
/// (KONECT) have them: lines "FROM TO" or, all of them, "FROM TO WEIGHT". Ids are any whole numbers
/// below 2^64. Lines that begin with '#' (SNAP) or '%' (KONECT) are comments, whatever they claim;
/// but a KONECT header is needed for "FROM TO WEIGHT TIME", of which the time, a number, is left
/// out. (Elsewhere a fourth column may be anything, or the third be the time.) The KONECT handbook
/// (J. Kunegis, 2017), section "File formats", describes these files, which are called out.*.
inline constexpr TextRules edge_list_rules{.comment_marks = "#%"};

using LinkEntry = Entry<std::uint64_t>;
using LinkEntries = ParsedEntries<std::uint64_t>;

/// Whether it is the line that KONECT's files begin with: '%', then "sym", "asym" or "bip".
[[nodiscard]] bool is_konect_header(std::string_view line);

/// What the lines of a file hold.
enum class LinkColumns { ids, weights, weights_and_times };

/// What a line looks like, whether or not its numbers can be read. Nothing if it is blank or a
/// comment. `konect`: the file has a KONECT header.
[[nodiscard]] std::optional<LinkColumns> columns_of_link_line(std::string_view line, bool konect);

/// The link on one line (without its newline), or nothing if it is blank or a comment. Throws
/// LineFault, with line 1, at what is neither, or has other columns than these.
[[nodiscard]] std::optional<LinkEntry> parse_link_line(std::string_view line, LinkColumns columns);

/// parse_entry_lines() for lines all of which have these columns.
void parse_links(std::string_view text, LinkColumns columns, LinkEntries& result);

}  // namespace pagerank::io
