#include "tests/compressed_samples.hpp"

#include <algorithm>

#include "io/line_blocks.hpp"
#include "io/read_ahead.hpp"
#include "tests/gzip_data.hpp"

namespace pagerank::tests {
namespace {

const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";

/// With the byte so many places before the end changed.
std::string changed(std::string data, std::size_t from_end) {
  char& byte = data.at(data.size() - from_end);
  byte = static_cast<char>(byte ^ 0x15);
  return data;
}

}  // namespace

std::vector<BadEnd> bad_ends_of(const std::string& text) {
  const std::string cut_off = "compressed data is cut off";
  const std::string damaged = "damaged compressed data: ";
  const std::string not_gzip = damaged + "what follows a compressed part is not gzip data";
  const std::string goes_on = begun_gzip(text), whole = gzip(text);
  const std::string more = gzip("1 2\n");
  constexpr std::size_t trailer = 8;  // a checksum and a length, 4 bytes each
  return {
      {goes_on, cut_off},
      {whole.substr(0, whole.size() - trailer), cut_off},
      {whole.substr(0, whole.size() - 1), cut_off},
      {whole + more.substr(0, 1), cut_off},
      {whole + more.substr(0, 5), cut_off},
      {goes_on + '\7' + std::string(500, 'x'), damaged + "invalid block type"},
      {changed(whole, trailer), damaged + "incorrect data check"},
      {changed(whole, trailer - 4) + more, damaged + "incorrect length check"},
      {whole + "1 2\n", not_gzip},
      {whole + changed(more, more.size()), not_gzip},
      {whole + changed(more, more.size() - 1), not_gzip},
      {whole + std::string(70'000, '\0') + more, not_gzip},
      {whole + changed(more, more.size() - 2), damaged + "unknown compression method"},
  };
}

std::vector<TextBeforeDamage> matrices_before_damage() {
  const std::string begin = banner + "3 3 9\n";
  return {
      {"", 0},
      {"%%MatrixMarket matrix", 0},  // a banner that is cut off is none that is bad
      {"%%MatrixMarket matrix array real general\n", 1},
      {"%%MatrixMarket matrix array real general\n3 3", 1},
      {banner, 0},
      {banner + "3 4", 0},
      {banner + "% 3 4\n3 4 9\n", 3},
      {banner + "3 4 9\n1 2\n", 2},
      {begin, 0},
      {begin + "1 2\n2 3\n", 0},
      {begin + "1 2\n2 3\n4", 0},
      {begin + "1 2\n2 3\nx", 0},
      {begin + "1 2\n2 3\n1 1\n2 2\n1 4\n", 7},
      {begin + "1 2\n2 3\n1 1\n2 2\n1 4\n1 2\nx\n", 7},
      {begin + "1 2\n2 3\n1 1\n2 2\n1 4\n1 2\n1", 7},
      {begin + "1 2\n2 3\n1 1\n2 2\n1 2\n% comment\n1 a\n1 2", 9},
      {banner + "3 3 1\n1 2\n2 3\n", 4},
      {banner + "3 3 2\n1 2\n2 3\n", 0},
  };
}

std::vector<TextBeforeDamage> edge_lists_before_damage() {
  return {
      {"", 0},
      {"1", 0},
      {"1 x", 0},
      {"# only comments\n", 0},
      {"1 x\n", 1},
      {banner, 1},
      {"# comment\n1\n", 2},
      {"# comment\n1\n1 2", 2},
      {"1 2\n", 0},
      {"1 2\n2 3\nx", 0},
      {"# comment\n1 2\n2 3\n1 1\n2 2\n4 5\n4 -5\n", 7},
      {"# comment\n1 2\n2 3\n1 1\n2 2\n4 5\n4 -5\n1 2\nx\n", 7},
      {"# comment\n1 2\n2 3\n1 1\n2 2\n4 5\n4 -5\n1 2\nx", 7},
      {"1 2 0.5\n2 3 1\n% comment\n2 4\n1 ", 4},
  };
}

std::vector<TextBeforeDamage> long_texts_before_damage(bool edge_list) {
  constexpr std::size_t piece = io::ReadAhead::piece_bytes;
  const std::string begin = edge_list ? "# comment\n" : banner + "3 3 999999\n";
  std::vector<TextBeforeDamage> samples;
  for (const std::size_t bytes : {piece, 3 * piece + 77}) {
    for (const std::string end : {"1 3\n", "1 x\n", "1 x\n1"}) {
      std::string text = begin;
      while (text.size() + 20 < bytes) text += "1 2\n3 1\n";
      text += '%' + std::string(bytes - text.size() - end.size() - 2, ' ') + '\n' + end;
      const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
      samples.push_back({text, end == "1 3\n" ? 0 : lines});
    }
  }
  // A line that is already too long, and one and a comment that may be.
  const std::string blanks(io::LineBlocks::longest_line, ' ');
  const std::string zeros(io::LineBlocks::longest_line, '0');
  samples.push_back({begin + "1 2\n" + "1 " + zeros + "3", edge_list ? 3U : 4U});
  samples.push_back({begin + "1 2\n" + "1 3" + blanks, 0});
  samples.push_back({begin + "1 2\n" + "%" + blanks, 0});
  return samples;
}

}  // namespace pagerank::tests
