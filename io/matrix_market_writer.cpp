#include "io/matrix_market_writer.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "core/parallel.hpp"

namespace pagerank::io {
namespace {

template <class Number>
void append(std::string& text, Number number, char end) {
  char digits[32];
  const auto [last, error] = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, last);
  text.push_back(end);
}

void append_entry(std::string& text, const EdgeList& edges, EdgeIndex entry) {
  std::uint64_t row = std::uint64_t{edges.sources[entry]} + 1;
  std::uint64_t column = std::uint64_t{edges.targets[entry]} + 1;
  if (edges.undirected && row < column) std::swap(row, column);
  append(text, row, ' ');
  append(text, column, edges.weighted() ? ' ' : '\n');
  if (edges.weighted()) append(text, edges.weights[entry], '\n');
}

}  // namespace

void write_matrix_market(std::ostream& out, const EdgeList& edges, const std::string& comment,
                         int threads) {
  out << "%%MatrixMarket matrix coordinate " << (edges.weighted() ? "real " : "pattern ")
      << (edges.undirected ? "symmetric" : "general") << '\n';
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) out << "% " << line << '\n';
  out << edges.node_count << ' ' << edges.node_count << ' ' << edges.entry_count() << '\n';

  // Formatting takes longer than writing: a batch of pieces is formatted by all threads, then
  // written in order.
  constexpr EdgeIndex piece = EdgeIndex{1} << 16;
  threads = thread_count(threads);
  std::vector<std::string> batch(static_cast<std::size_t>(threads) * 4);
  const EdgeIndex entries = edges.entry_count();
  for (EdgeIndex begin = 0; begin < entries && out; begin += piece * batch.size()) {
    parallel_for(batch.size(), threads, [&](std::size_t i) {
      batch[i].clear();
      const EdgeIndex first = begin + i * piece;
      for (EdgeIndex e = first; e < std::min(first + piece, entries); ++e) {
        append_entry(batch[i], edges, e);
      }
    });
    for (const std::string& text : batch) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
  }
}

}  // namespace pagerank::io
