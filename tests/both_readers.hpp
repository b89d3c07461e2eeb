#pragma once

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "io/graph_reader.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"
#include "tests/text_ranks.hpp"

/// A reader against the simple one: the same graph, bit for bit, or the same message.
namespace pagerank::tests {

/// Of text, that readers take at a time.
inline constexpr std::array<std::size_t, 7> block_sizes = {1, 2, 7, 1024, 2048, 7168, 65'536};

/// The readers of a format: the simple one, and the one that is compared with it.
struct MatrixMarketReaders {
  using Graph = io::MatrixMarketGraph;
  static constexpr const char* corpus = "tests/data/conformance";
  static constexpr const char* fuzz_kind = "matrix_market";
  static Graph simple(const std::string& text, const std::string& name) {
    return simple_read(text, name, SourceIndex::row);
  }
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    return io::read_matrix_market(source, SourceIndex::row, options);
  }
};

struct EdgeListReaders {
  using Graph = io::LabelledEdgeList;
  static constexpr const char* corpus = "tests/data/edge_lists";
  static constexpr const char* fuzz_kind = "edge_lists";
  static Graph simple(const std::string& text, const std::string& name) {
    return simple_read_edges(text, name, SourceIndex::row);
  }
  static Graph parallel(io::ByteSource& source, const io::ReadOptions& options) {
    return io::read_edge_list(source, SourceIndex::row, options);
  }
};

/// Reads the same text by both readers of a format, as a file and compressed.
template <class Readers>
class BothReaders {
 public:
  explicit BothReaders(const std::string& text) : text_(text) {
    write_file(plain_, text);
    write_gzip_file(compressed_, text);
    expected_ = outcome_of([&] { return Readers::simple(text, plain_.string()); });
  }

  void check(const io::ReadOptions& options, bool compress) {
    auto outcome = outcome_of([&] {
      io::ByteSource source((compress ? compressed_ : plain_).string());
      return Readers::parallel(source, options);
    });
    if (compress && !outcome.error.empty()) {
      outcome.error.replace(0, compressed_.string().size(), plain_.string());
    }
    if (same(outcome, expected_)) return;
    CAPTURE(text_.substr(0, 2000));
    CAPTURE(options.threads);
    CAPTURE(options.block_bytes);
    CAPTURE(compress);
    CAPTURE(expected_.error);
    CAPTURE(outcome.error);
    FAIL_CHECK("the readers differ");
  }

  /// The same of the ranks, by the way that the program takes.
  void check_ranks(const io::ReadOptions& options) {
    if (ranks_agree(plain_.string(), options, expected_)) return;
    CAPTURE(text_.substr(0, 2000));
    CAPTURE(options.threads);
    CAPTURE(options.block_bytes);
    CAPTURE(expected_.error);
    FAIL_CHECK("the ranks differ");
  }

  [[nodiscard]] bool refused() const { return !expected_.error.empty(); }

 private:
  TemporaryDirectory files_;
  fs::path plain_ = files_ / "graph";
  fs::path compressed_ = files_ / "graph.gz";
  std::string text_;
  ReadOutcome<typename Readers::Graph> expected_;
};

}  // namespace pagerank::tests
