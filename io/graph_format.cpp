#include "io/graph_format.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "io/graph_cache_format.hpp"
#include "io/input_error.hpp"
#include "io/line_fields.hpp"

namespace pagerank::io {

bool is_matrix_market_banner(std::string_view line) {
  constexpr std::string_view word = "%%matrixmarket";
  const std::string_view found = next_field(line);
  return std::equal(found.begin(), found.end(), word.begin(), word.end(), [](char c, char lower) {
    return c == lower || (c >= 'A' && c <= 'Z' && c + ('a' - 'A') == lower);
  });
}

std::optional<GraphFormat> format_by_name(const std::string& path) {
  std::filesystem::path name = path;
  if (name.extension() == ".gz") name.replace_extension();
  const std::string extension = name.extension().string();
  if (extension == ".mtx") return GraphFormat::matrix_market;
  static constexpr std::array<std::string_view, 6> edge_lists = {".txt", ".el",    ".wel",
                                                                 ".tsv", ".edges", ".edgelist"};
  const bool edges = std::find(edge_lists.begin(), edge_lists.end(), extension) != edge_lists.end();
  return edges ? std::optional(GraphFormat::edge_list) : std::nullopt;
}

GraphFormat format_of(ByteSource& source, const std::string& path) {
  constexpr std::size_t enough = 256;
  const std::string_view text = source.peek(enough);
  if (text.starts_with({graph_cache::magic.data(), graph_cache::magic.size()})) {
    throw InputError(source.name() +
                     ": a graph cache is mapped into memory, and so has to be a file");
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  if (is_matrix_market_banner(line)) return GraphFormat::matrix_market;
  if (const auto format = format_by_name(path)) return *format;
  std::string_view rest = line;
  const std::string_view first = next_field(rest);
  const bool konect = first.starts_with('%') && !first.starts_with("%%");
  return first.starts_with('#') || konect ? GraphFormat::edge_list : GraphFormat::matrix_market;
}

}  // namespace pagerank::io
