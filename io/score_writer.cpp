#include "io/score_writer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <vector>

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

void write_rows(std::ostream& out, const RowStyle& style, std::span<const double> scores,
                std::span<const NodeId> order, std::span<const std::uint64_t> labels) {
  Text text(out);
  text << style.before_all;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (place > 0) text << style.between_rows;
    (text << style.before_rank).number(place + 1);
    (text << style.before_node).number(label_of(order[place], labels));
    (text << style.before_score).number(scores[order[place]]);
    text << style.after_row;
  }
  text << style.after_all;
}

void write_matrix_market(std::ostream& out, std::span<const double> scores,
                         std::span<const std::uint64_t> labels, const std::string& comment) {
  Text text(out);
  text << "%%MatrixMarket matrix array real general\n";
  for (std::string_view rest = comment; !rest.empty();) {
    const std::size_t newline = rest.find('\n');
    text << "% " << rest.substr(0, newline) << "\n";
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  }
  if (!labels.empty()) text << "% the nodes, in the order of their scores:\n";
  for (const std::uint64_t label : labels) (text << "% ").number(label) << "\n";
  text.number(scores.size()) << " 1\n";
  for (const double score : scores) text.number(score) << "\n";
}

/// NumPy's format 1.0: magic, version, header length, header padded to a multiple of 64 bytes, data
/// (numpy.lib.format documentation).
void write_npy(std::ostream& out, std::span<const double> scores,
               std::span<const std::uint64_t> labels) {
  static_assert(std::endian::native == std::endian::little);
  std::string header = std::string("{'descr': ") +
                       (labels.empty() ? "'<f8'" : "[('node', '<u8'), ('score', '<f8')]") +
                       ", 'fortran_order': False, 'shape': (" + std::to_string(scores.size()) +
                       ",), }";
  constexpr std::size_t before_header = 10;
  header.append(63 - (before_header + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(length & 0xff)
      << static_cast<char>(length >> 8) << header;
  if (labels.empty()) {
    out.write(reinterpret_cast<const char*>(scores.data()),
              static_cast<std::streamsize>(scores.size_bytes()));
    return;
  }
  struct Record {
    std::uint64_t node;
    double score;
  };
  static_assert(sizeof(Record) == sizeof(std::uint64_t) + sizeof(double));
  constexpr std::size_t at_once = 4096;
  std::vector<Record> records;
  for (std::size_t begin = 0; begin < scores.size(); begin += at_once) {
    records.clear();
    const std::size_t end = std::min(begin + at_once, scores.size());
    for (std::size_t node = begin; node < end; ++node) {
      records.push_back({labels[node], scores[node]});
    }
    out.write(reinterpret_cast<const char*>(records.data()),
              static_cast<std::streamsize>(records.size() * sizeof(Record)));
  }
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

void write_scores(std::ostream& out, ScoreFormat format, std::span<const double> scores,
                  std::span<const NodeId> order, std::span<const std::uint64_t> labels,
                  const std::string& comment) {
  switch (format) {
    case ScoreFormat::tsv:
      return write_rows(out, {"rank\tnode\tscore\n", "", "\t", "\t", "\n", "", ""}, scores, order,
                        labels);
    case ScoreFormat::csv:
      return write_rows(out, {"rank,node,score\n", "", ",", ",", "\n", "", ""}, scores, order,
                        labels);
    case ScoreFormat::json:
      return write_rows(
          out, {"[\n", "{\"rank\": ", ", \"node\": ", ", \"score\": ", "}", ",\n", "\n]\n"}, scores,
          order, labels);
    case ScoreFormat::matrix_market:
      return write_matrix_market(out, scores, labels, comment);
    case ScoreFormat::npy:
      return write_npy(out, scores, labels);
  }
}

}  // namespace pagerank::io
