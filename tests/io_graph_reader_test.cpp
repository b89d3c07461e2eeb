// From a file of any format to the matrix: what GraphReader decides beyond the formats' readers.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "io/byte_source.hpp"
#include "io/graph_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("nodes without links share a row where they are most of the nodes") {
  const auto read = [](const std::string& text, SourceIndex source_index) {
    const TemporaryDirectory files;
    write_file(files / "g.mtx", text);
    io::ByteSource source((files / "g.mtx").string());
    io::GraphReader reader(source, io::GraphFormat::matrix_market);
    reader.read(source_index);
    NodeLabels labels = reader.take_labels();
    return std::pair(reader.build(), std::move(labels));
  };
  const std::string head = "%%MatrixMarket matrix coordinate pattern ";
  const auto [matrix, labels] =
      read(head + "general\n4294967294 4294967294 3\n4294967294 9\n9 5\n5 5\n", SourceIndex::row);
  CHECK(labels == NodeLabels{5, 9, 4294967294});
  CHECK(matrix.node_count() == 4);
  CHECK(matrix.graph_node_count() == 4294967294);
  CHECK(matrix.in_links.row_offsets == SharedArray<EdgeIndex>{0, 2, 3, 3, 3});
  CHECK(matrix.in_links.column_indices == SharedArray<NodeId>{0, 1, 2});
  CHECK(matrix.dangling == std::vector<NodeId>{3});

  const auto [turned, same_labels] = read(
      head + "general\n4294967294 4294967294 3\n4294967294 9\n9 5\n5 5\n", SourceIndex::column);
  CHECK(same_labels == labels);
  CHECK(turned.in_links.column_indices == SharedArray<NodeId>{0, 0, 1});
  CHECK(turned.dangling == std::vector<NodeId>{2, 3});

  // The first nodes, and links both ways.
  const auto [both, first] =
      read(head + "symmetric\n2000000 2000000 2\n2 1\n3 3\n", SourceIndex::row);
  CHECK(first == NodeLabels{1, 2, 3});
  CHECK(both.in_links.row_offsets == SharedArray<EdgeIndex>{0, 1, 2, 3, 3});

  const auto [weighted, two] = read(
      "%%MatrixMarket matrix coordinate real general\n2000000 2000000 3\n7 8 1\n7 8 2\n7 7 1\n",
      SourceIndex::row);
  CHECK(two == NodeLabels{7, 8});
  CHECK(weighted.in_links.values == SharedArray<double>{0.25, 0.75});

  const auto [none, nobody] = read(head + "general\n2000000 2000000 0\n", SourceIndex::row);
  CHECK(nobody.empty());
  CHECK(none.node_count() == 1);
  CHECK(none.more_unlinked == 1'999'999);

  // Elsewhere each node has its own.
  CHECK(
      read(head + "general\n1048576 1048576 262144\n" + repeated("1 2\n", 262144), SourceIndex::row)
          .first.more_unlinked == 1048576 - 3);
  CHECK(
      read(head + "general\n1048576 1048576 262145\n" + repeated("1 2\n", 262145), SourceIndex::row)
          .first.more_unlinked == 0);
  CHECK(read(head + "general\n1048575 1048575 1\n1 2\n", SourceIndex::row).first.more_unlinked ==
        0);
}

TEST_SUITE_END();
}  // namespace pagerank::tests
