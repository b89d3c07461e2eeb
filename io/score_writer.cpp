#include "io/score_writer.hpp"

#include <bit>
#include <charconv>
#include <cstdint>

namespace pagerank::io {
namespace {

/// Collects text and hands it to the stream in large pieces.
class Text {
 public:
  explicit Text(std::ostream& out) : out_(out) { text_.reserve(flush_at + 256); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { flush(); }

  Text& operator<<(std::string_view piece) {
    text_ += piece;
    if (text_.size() >= flush_at) flush();
    return *this;
  }

  /// The shortest decimal that reads back as the same number.
  template <class Number>
  Text& number(Number value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }

 private:
  static constexpr std::size_t flush_at = std::size_t{1} << 16;

  void flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }

  std::ostream& out_;
  std::string text_;
};

struct RowStyle {
  std::string_view before_all, before_rank, before_node, before_score, after_row, between_rows,
      after_all;
};

void write_rows(std::ostream& out, const RowStyle& style, const ScoreRows& rows) {
  Text text(out);
  text << style.before_all;
  std::uint64_t rank = 0;
  for_each_ranked(rows.scores, rows.order, rows.names, rows.most,
                  [&](std::uint64_t label, double score) {
                    if (rank > 0) text << style.between_rows;
                    (text << style.before_rank).number(++rank);
                    (text << style.before_node).number(label);
                    (text << style.before_score).number(score);
                    text << style.after_row;
                  });
  text << style.after_all;
}

void write_matrix_market(std::ostream& out, std::span<const double> scores, const NodeNames& names,
                         const std::string& comment) {
  Text text(out);
  text << "%%MatrixMarket matrix array real general\n";
  for (std::string_view rest = comment; !rest.empty();) {
    const std::size_t newline = rest.find('\n');
    text << "% " << rest.substr(0, newline) << "\n";
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  }
  if (names.are_given()) {
    text << "% the nodes, in the order of their scores:\n";
    for (const std::uint64_t label : names.labels) (text << "% ").number(label) << "\n";
  }
  text.number(node_count_of(scores, names)) << " 1\n";
  for_each_node(scores, names, [&](std::uint64_t, double score) { text.number(score) << "\n"; });
}

/// NumPy's format 1.0: magic, version, header length, header padded to a multiple of 64 bytes, data
/// (numpy.lib.format documentation).
void write_npy(std::ostream& out, std::span<const double> scores, const NodeNames& names) {
  static_assert(std::endian::native == std::endian::little);
  std::string header = std::string("{'descr': ") +
                       (names.are_given() ? "[('node', '<u8'), ('score', '<f8')]" : "'<f8'") +
                       ", 'fortran_order': False, 'shape': (" +
                       std::to_string(node_count_of(scores, names)) + ",), }";
  constexpr std::size_t before_header = 10;
  header.append(63 - (before_header + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(length & 0xff)
      << static_cast<char>(length >> 8) << header;
  if (names.labels.empty() && names.more_unlinked == 0) {
    out.write(reinterpret_cast<const char*>(scores.data()),
              static_cast<std::streamsize>(scores.size_bytes()));
    return;
  }
  const auto bytes_of = [](const auto& number) {
    return std::string_view(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  Text records(out);
  for_each_node(scores, names, [&](std::uint64_t label, double score) {
    if (names.are_given()) records << bytes_of(label);
    records << bytes_of(score);
  });
}

}  // namespace

std::optional<ScoreFormat> score_format_named(std::string_view name) {
  if (name == "tsv") return ScoreFormat::tsv;
  if (name == "csv") return ScoreFormat::csv;
  if (name == "json") return ScoreFormat::json;
  if (name == "mtx") return ScoreFormat::matrix_market;
  if (name == "npy") return ScoreFormat::npy;
  return std::nullopt;
}

void write_scores(std::ostream& out, ScoreFormat format, const ScoreRows& rows,
                  const std::string& comment) {
  switch (format) {
    case ScoreFormat::tsv:
      return write_rows(out, {"rank\tnode\tscore\n", "", "\t", "\t", "\n", "", ""}, rows);
    case ScoreFormat::csv:
      return write_rows(out, {"rank,node,score\n", "", ",", ",", "\n", "", ""}, rows);
    case ScoreFormat::json:
      return write_rows(
          out, {"[\n", "{\"rank\": ", ", \"node\": ", ", \"score\": ", "}", ",\n", "\n]\n"}, rows);
    case ScoreFormat::matrix_market:
      return write_matrix_market(out, rows.scores, rows.names, comment);
    case ScoreFormat::npy:
      return write_npy(out, rows.scores, rows.names);
  }
}

}  // namespace pagerank::io
