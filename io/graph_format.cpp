#include "io/graph_format.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/graph_cache_format.hpp"
#include "io/input_error.hpp"
#include "io/line_fields.hpp"

namespace pagerank::io {

namespace {

/// In upper case, lower case or both; `lower` is in lower case.
bool is_word(std::string_view found, std::string_view lower) {
  return std::equal(found.begin(), found.end(), lower.begin(), lower.end(), [](char c, char l) {
    return c == l || (c >= 'A' && c <= 'Z' && c + ('a' - 'A') == l);
  });
}

/// What the program that compressed the text is called, if it is one of those whose texts are not
/// decompressed here.
const char* compressed_by(std::string_view text) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, const char*>, 4> beginnings = {
      {{"\x28\xb5\x2f\xfd"sv, "zstd"},
       {"\xfd"
        "7zXZ\0"sv,
        "xz"},
       {"BZh"sv, "bzip2"},
       {"PK\x03\x04"sv, "zip"}}};
  for (const auto& [beginning, name] : beginnings) {
    if (text.starts_with(beginning)) return name;
  }
  return nullptr;
}

}  // namespace

bool is_matrix_market_banner(std::string_view line) {
  const std::string_view field = next_field(line);
  const std::size_t marks = std::min(field.find_first_not_of('%'), field.size());
  return marks > 0 && is_word(field.substr(marks), "matrixmarket");
}

std::filesystem::path without_gz(std::filesystem::path name) {
  if (is_word(name.extension().native(), ".gz")) name.replace_extension();
  return name;
}

std::optional<GraphFormat> format_by_name(const std::string& path) {
  const std::string extension = without_gz(path).extension().string();
  const auto is_extension = [&](std::string_view known) { return is_word(extension, known); };
  if (is_extension(".mtx")) return GraphFormat::matrix_market;
  static constexpr std::array<std::string_view, 6> edge_lists = {".txt", ".el",    ".wel",
                                                                 ".tsv", ".edges", ".edgelist"};
  const bool edges = std::any_of(edge_lists.begin(), edge_lists.end(), is_extension);
  return edges ? std::optional(GraphFormat::edge_list) : std::nullopt;
}

std::optional<GraphFormat> stated_format(ByteSource& source, const std::string& path) {
  constexpr std::size_t enough = 256;
  const std::string_view text = source.peek(enough);
  if (text.starts_with({graph_cache::magic.data(), graph_cache::magic.size()})) {
    throw InputError(source.name() +
                     ": a graph cache is mapped into memory, and so has to be a file");
  }
  if (const char* const program = compressed_by(text)) {
    throw InputError(source.name() + ": compressed by " + program +
                     ", which is not decompressed here; gzip is");
  }
  if (is_matrix_market_banner(text.substr(0, text.find('\n')))) return GraphFormat::matrix_market;
  if (const auto format = format_by_name(path)) return format;
  std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view first = next_field(rest);
  const bool konect = first.starts_with('%') && !first.starts_with("%%");
  if (first.starts_with('#') || konect) return GraphFormat::edge_list;
  return {};
}

GraphFormat format_of(ByteSource& source, const std::string& path) {
  return stated_format(source, path).value_or(GraphFormat::matrix_market);
}

}  // namespace pagerank::io
