// Edge lists on text of our own: what is accepted, what is refused and where, and what the nodes
// are called.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/labelled_links.hpp"
#include "io/edge_list_lines.hpp"
#include "io/edge_list_reader.hpp"
#include "io/graph_format.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using io::ParseFault;

struct Verdict {
  const char* file;
  std::optional<ParseFault> fault;  ///< Unset: read.
  std::uint64_t line = 0;           ///< Of the fault.
  std::uint64_t links = 0, nodes = 0;
};

constexpr std::nullopt_t read = std::nullopt;

const std::vector<Verdict> verdicts = {
    {"valid/snap_header_tabs.txt", read, 0, 6, 5},
    {"valid/snap_crlf.txt", read, 0, 4, 3},
    {"valid/konect_unweighted.tsv", read, 0, 4, 3},
    {"valid/konect_weighted.tsv", read, 0, 3, 3},
    {"valid/konect_times.tsv", read, 0, 5, 3},
    {"valid/comment_with_nul.txt", read, 0, 2, 2},
    {"valid/ids_from_one.el", read, 0, 3, 3},
    {"valid/ids_from_zero.el", read, 0, 3, 3},
    {"valid/ids_64_bit.el", read, 0, 4, 5},
    {"valid/ids_of_all_lengths.el", read, 0, 19, 38},
    {"valid/layout.txt", read, 0, 5, 3},
    {"valid/weights.wel", read, 0, 8, 3},
    {"valid/long_exponents.wel", read, 0, 5, 3},
    {"valid/repeats_and_loops.edges", read, 0, 6, 2},
    {"valid/one_link.edgelist", read, 0, 1, 1},

    {"invalid/empty.txt", ParseFault::no_links, 1},
    {"invalid/comments_only.txt", ParseFault::no_links, 3},
    {"invalid/missing_weight.txt", ParseFault::missing_weight, 4},
    {"invalid/unexpected_weight.txt", ParseFault::unexpected_weight, 3},
    {"invalid/negative_id.txt", ParseFault::bad_second_id, 2},
    {"invalid/fractional_id.txt", ParseFault::bad_first_id, 2},
    {"invalid/word_as_id.txt", ParseFault::bad_first_id, 1},
    {"invalid/comma.txt", ParseFault::bad_first_id, 1},
    {"invalid/id_of_2_to_the_64.txt", ParseFault::id_too_large, 3},
    {"invalid/id_of_25_digits.txt", ParseFault::id_too_large, 2},
    {"invalid/one_id.txt", ParseFault::bad_second_id, 3},
    {"invalid/four_fields.txt", ParseFault::trailing_characters, 2},
    {"invalid/konect_five_fields.tsv", ParseFault::trailing_characters, 2},
    {"invalid/konect_missing_time.tsv", ParseFault::missing_time, 3},
    {"invalid/konect_missing_weight.tsv", ParseFault::missing_weight, 3},
    {"invalid/konect_unexpected_time.tsv", ParseFault::trailing_characters, 3},
    {"invalid/konect_word_as_time.tsv", ParseFault::bad_time, 3},
    {"invalid/comment_behind_link.txt", ParseFault::trailing_characters, 1},
    {"invalid/comment_behind_weight.txt", ParseFault::trailing_characters, 2},
    {"invalid/negative_weight.txt", ParseFault::negative_weight, 2},
    {"invalid/nan_weight.txt", ParseFault::weight_not_finite, 1},
    {"invalid/infinite_weight.txt", ParseFault::weight_not_finite, 2},
    {"invalid/exponent_near_2_to_the_63.wel", ParseFault::weight_not_finite, 2},
    {"invalid/word_as_weight.txt", ParseFault::bad_weight, 1},
    {"invalid/nul.txt", ParseFault::binary_data, 2},
    {"invalid/binary.txt", ParseFault::binary_data, 1},
    {"invalid/matrix_market_banner.txt", ParseFault::banner_in_edge_list, 1},
    {"invalid/matrix_market_banner_below.txt", ParseFault::banner_in_edge_list, 3},
    {"invalid/cut_off_link.txt", ParseFault::cut_off_entry, 3},
    {"invalid/cut_off_before_weight.txt", ParseFault::cut_off_entry, 3},
    {"invalid/konect_cut_off_before_time.tsv", ParseFault::cut_off_entry, 3},
};

fs::path corpus() {
  return source_dir() / "tests/data/edge_lists";
}

io::LabelledEdgeList read_file_of(const std::string& name, SourceIndex source_index) {
  io::ByteSource source((corpus() / name).string());
  return io::read_edge_list(source, source_index);
}

io::LabelledEdgeList read_text(const std::string& text) {
  const TemporaryDirectory files;
  write_file(files / "graph.txt", text);
  io::ByteSource source((files / "graph.txt").string());
  return io::read_edge_list(source, SourceIndex::row);
}

io::GraphFormat format_of(const std::string& name, const std::string& text, bool compress = false) {
  const TemporaryDirectory files;
  const fs::path path = files / name;
  compress ? write_gzip_file(path, text) : write_file(path, text);
  io::ByteSource source(path.string());
  const io::GraphFormat format = io::format_of(source, path.string());
  std::string again(text.size() + 1, ' ');  // looking at it must not use it up
  again.resize(source.read(again));
  CHECK(again == text);
  return format;
}

/// Numbers the nodes of links between these labels, in pieces of so many.
io::LabelledEdgeList number(const std::vector<std::uint64_t>& sources,
                            const std::vector<std::uint64_t>& targets, std::size_t piece,
                            int threads) {
  LabelledLinks links;
  const std::size_t pieces = (sources.size() + piece - 1) / piece;
  for (std::size_t p = pieces; p-- > 0;) {  // in any order
    const std::size_t begin = p * piece, size = std::min(piece, sources.size() - begin);
    links.add(p, std::span(sources).subspan(begin, size), std::span(targets).subspan(begin, size),
              {});
  }
  links.number_nodes(threads);
  return {links.take_edges(), links.take_labels()};
}

}  // namespace

TEST_CASE("each edge list gets its verdict, at its line") {
  for (const Verdict& verdict : verdicts) {
    CAPTURE(std::string(verdict.file));
    try {
      const io::LabelledEdgeList graph = read_file_of(verdict.file, SourceIndex::row);
      CHECK_FALSE(verdict.fault.has_value());
      CHECK(graph.edges.entry_count() == verdict.links);
      CHECK(graph.edges.node_count == verdict.nodes);
    } catch (const io::ParseError& error) {
      CAPTURE(error.what());
      REQUIRE(verdict.fault.has_value());
      CHECK(static_cast<int>(error.fault()) == static_cast<int>(*verdict.fault));
      CHECK(error.line() == verdict.line);
      const std::string place =
          std::string(verdict.file) + ":" + std::to_string(verdict.line) + ": ";
      CHECK(std::string(error.what()).find(place) != std::string::npos);
    }
  }
}

TEST_CASE("every edge list has a verdict") {
  std::set<std::string> listed, present;
  for (const Verdict& verdict : verdicts) listed.insert(verdict.file);
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(corpus())) {
    if (file.is_regular_file()) present.insert(fs::relative(file.path(), corpus()).string());
  }
  CHECK(listed == present);
}

TEST_CASE("nodes are numbered in order of their ids, links keep the file's order") {
  const io::LabelledEdgeList graph = read_file_of("valid/snap_header_tabs.txt", SourceIndex::row);
  CHECK(graph.labels == NodeLabels{3, 30, 54, 1412, 3352});
  CHECK(graph.edges.sources == Array<NodeId>{1, 1, 4, 3, 2, 0});
  CHECK(graph.edges.targets == Array<NodeId>{3, 4, 1, 2, 1, 2});
  CHECK(graph.edges.weights.empty());
  const EdgeList turned = read_file_of("valid/snap_header_tabs.txt", SourceIndex::column).edges;
  CHECK(turned.sources == graph.edges.targets);
  CHECK(turned.targets == graph.edges.sources);
}

TEST_CASE("ids that count from 1 need no labels") {
  CHECK(read_file_of("valid/ids_from_one.el", SourceIndex::row).labels.empty());
  CHECK(read_file_of("valid/ids_from_zero.el", SourceIndex::row).labels == NodeLabels{0, 1, 2});
  CHECK(read_text("1 3\n").labels == NodeLabels{1, 3});
  CHECK(read_text("2 3\n").labels == NodeLabels{2, 3});
}

TEST_CASE("ids are any 64-bit numbers") {
  const io::LabelledEdgeList graph = read_file_of("valid/ids_64_bit.el", SourceIndex::row);
  CHECK(graph.labels == NodeLabels{0, 9223372036854775808u, 9999999999999999999u,
                                   10000000000000000000u, 18446744073709551615u});
  CHECK(graph.edges.sources == Array<NodeId>{4, 0, 1, 3});
  CHECK(graph.edges.targets == Array<NodeId>{0, 1, 4, 2});
  const NodeLabels far_away = read_text("18446744073709551615 18446744073709551614\n").labels;
  CHECK(far_away == NodeLabels{18446744073709551614u, 18446744073709551615u});
}

TEST_CASE("weights are read as in Matrix Market files") {
  const EdgeList edges = read_file_of("valid/weights.wel", SourceIndex::row).edges;
  CHECK(edges.weights == Array<double>{1, 0.5, 1e-3, 2, 0, 100, 0.1, 4.9e-324});
  CHECK(read_file_of("valid/long_exponents.wel", SourceIndex::row).edges.weights ==
        Array<double>{0, 0, 120, 0, 1.5e-10});
}

TEST_CASE("times of a KONECT file are left out") {
  const EdgeList edges = read_file_of("valid/konect_times.tsv", SourceIndex::row).edges;
  CHECK(edges.sources == Array<NodeId>{0, 1, 2, 0, 2});
  CHECK(edges.targets == Array<NodeId>{1, 2, 0, 1, 1});
  CHECK(edges.weights == Array<double>{1, 1, 2.5, 1, 1});
}

TEST_CASE("a KONECT header is '%' and one of three words") {
  for (const char* line : {"% asym unweighted", "%\tsym positive\r", " % bip"}) {
    CHECK(io::is_konect_header(line));
  }
  for (const char* line :
       {"", "%", "% 4 3 3", "%asym", "# asym positive", "% Asym", "% asymmetric"})
    CHECK_FALSE(io::is_konect_header(line));
}

TEST_CASE("usual and unusual lines parse the same whatever pieces they are cut into") {
  const std::string text = "1 2 1.5\n\n# c\n20 18446744073709551615 4e2\r\n3\t1\t0\n%\n2 2 7";
  const auto parse = [](const std::string& lines, std::vector<std::uint64_t>& ids) {
    io::LinkEntries result;
    io::parse_links(lines, io::LinkColumns::weights, result);
    CHECK_FALSE(result.fault.has_value());
    for (std::size_t e = 0; e < result.entry_count(); ++e) {
      ids.insert(ids.end(), {result.first[e], result.second[e]});
    }
    return result.lines;
  };
  std::vector<std::uint64_t> whole;
  CHECK(parse(text, whole) == 7);
  CHECK(whole == std::vector<std::uint64_t>{1, 2, 20, 18446744073709551615u, 3, 1, 2, 2});
  for (std::size_t cut = text.find('\n'); cut != std::string::npos;
       cut = text.find('\n', cut + 1)) {
    std::vector<std::uint64_t> pieces;
    const std::uint64_t lines = parse(text.substr(0, cut + 1), pieces);
    CHECK(lines + parse(text.substr(cut + 1), pieces) == 7);
    CHECK(pieces == whole);
  }
}

TEST_CASE("the fast way and the general way agree on ids of any length") {
  std::string rest;  // the fast way needs room to look ahead
  for (int i = 0; i < 100; ++i) rest += "1 2\n";
  std::vector<std::string> ids = {"0",
                                  "18446744073709551615",
                                  "18446744073709551616",
                                  "18446744073709551620",
                                  "20000000000000000000",
                                  "99999999999999999999",
                                  "000000000000000000000007",
                                  "007",
                                  "+7"};
  for (std::size_t length = 1; length <= 22; ++length) {
    ids.push_back(std::string("9876543210987654321098").substr(0, length));
    ids.push_back("1" + std::string(length - 1, '0'));
  }
  for (const std::string& id : ids) {
    for (const auto& [first, second] :
         {std::pair<std::string, std::string>(id, "5"), {"5", id}, {id, id}}) {
      std::string line = first;
      line.append("\t").append(second);
      CAPTURE(line);
      std::string text = line;
      text.append("\r\n").append(rest);
      io::LinkEntries result;
      io::parse_links(text, io::LinkColumns::ids, result);
      try {
        const auto link = io::parse_link_line(line, io::LinkColumns::ids);
        REQUIRE_FALSE(result.fault.has_value());
        CHECK(result.first[0] == link->first);
        CHECK(result.second[0] == link->second);
      } catch (const io::LineFault& fault) {
        REQUIRE(result.fault.has_value());
        CHECK(static_cast<int>(result.fault->fault) == static_cast<int>(fault.fault));
        CHECK(result.fault->detail == fault.detail);
      }
    }
  }
}

TEST_CASE("both ways of numbering give the same for any pieces and threads") {
  // The last link alone decides how far apart labels are.
  std::vector<std::uint64_t> sources, targets;
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    sources.push_back(i * i * 7919 % 50'021);
    targets.push_back(i * 104'729 % 40'009 * 3);
  }
  for (const std::uint64_t last : {std::uint64_t{200'000}, std::uint64_t{1} << 40, UINT64_MAX}) {
    sources.back() = last;
    std::set<std::uint64_t> distinct(sources.begin(), sources.end());
    distinct.insert(targets.begin(), targets.end());
    const NodeLabels labels(distinct.begin(), distinct.end());
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{30'000}}) {
      for (const int threads : {1, 2, 7}) {
        const io::LabelledEdgeList graph = number(sources, targets, piece, threads);
        REQUIRE(graph.edges.node_count == labels.size());
        REQUIRE(graph.edges.entry_count() == sources.size());
        CHECK(graph.labels == labels);
        bool same = true;
        for (std::size_t e = 0; e < sources.size(); ++e) {
          same = same && graph.labels[graph.edges.sources[e]] == sources[e] &&
                 graph.labels[graph.edges.targets[e]] == targets[e];
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("labels of a piece are told apart up to 2^32 from each other, and beyond") {
  constexpr std::uint64_t far = std::uint64_t{1} << 32;
  for (const std::uint64_t least : {std::uint64_t{0}, std::uint64_t{7}, far * 1000}) {
    for (const std::uint64_t distance : {std::uint64_t{5}, far - 1, far, far + 1, far * 3 + 2}) {
      CAPTURE(least);
      CAPTURE(distance);
      // In pieces of two links: the first one's labels lie close together, the second's do not.
      const std::vector<std::uint64_t> sources = {least + 2, least + 1, least, least + distance};
      const std::vector<std::uint64_t> targets = {least + 3, least + 2, least + distance, least};
      const io::LabelledEdgeList graph = number(sources, targets, 2, 2);
      const NodeLabels labels = {least, least + 1, least + 2, least + 3, least + distance};
      CHECK(graph.labels == labels);
      CHECK(graph.edges.sources == Array<NodeId>{2, 1, 0, 4});
      CHECK(graph.edges.targets == Array<NodeId>{3, 2, 4, 0});
    }
  }
}

TEST_CASE("very many labels far apart are numbered in order") {
  std::vector<std::uint64_t> sources, targets;
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    sources.push_back((i + 1) * 0x9E3779B97F4A7C15);
    targets.push_back(i << 44);
  }
  for (const int threads : {1, 4}) {
    const io::LabelledEdgeList graph = number(sources, targets, 100'000, threads);
    REQUIRE(graph.labels.size() == 800'000);
    CHECK(std::is_sorted(graph.labels.begin(), graph.labels.end()));
    bool same = true;
    for (std::size_t e = 0; e < sources.size(); ++e) {
      same = same && graph.labels[graph.edges.sources[e]] == sources[e] &&
             graph.labels[graph.edges.targets[e]] == targets[e];
    }
    CHECK(same);
  }
}

TEST_CASE("ids that were made to meet in a hash table take no longer than others") {
  // What the finalizer of MurmurHash3, which spreads labels, makes of these is all alike but for
  // the bits from 24 on: one table, and slots side by side.
  const auto unmixed = [](std::uint64_t x) {
    x = (x ^ x >> 33) * 0x9cb4b2f8129337db;
    x = (x ^ x >> 33) * 0x4f74430c22a54005;
    return x ^ x >> 33;
  };
  std::vector<std::uint64_t> labels(160'000);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = unmixed(std::uint64_t{7} << 56 | std::uint64_t{i} << 24);
  }
  const std::clock_t begin = std::clock();
  const io::LabelledEdgeList graph = number(labels, labels, 10'000, 1);
  // Less than a tenth of a second, or half a minute.
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 5);
  CHECK(graph.edges.node_count == labels.size());
  std::sort(labels.begin(), labels.end());
  CHECK(std::equal(labels.begin(), labels.end(), graph.labels.begin(), graph.labels.end()));
}

TEST_CASE("more nodes than can be held are refused, however they are numbered") {
  for (const std::uint64_t last : {std::uint64_t{9}, std::uint64_t{1} << 60}) {
    const std::vector<std::uint64_t> sources = {1, 2, 3}, targets = {4, 5, last};
    for (const std::uint64_t most : {std::uint64_t{6}, std::uint64_t{5}}) {
      LabelledLinks links;
      links.add(0, sources, targets, {});
      if (most == 6) {
        CHECK_NOTHROW(links.number_nodes(1, most));
      } else {
        CHECK_THROWS_WITH_AS(links.number_nodes(1, most), "more nodes than the 5 that can be held",
                             std::length_error);
      }
    }
  }
}

TEST_CASE("a parser that is elsewhere hears of too many nodes as the reader's user does") {
  const std::string name = (corpus() / "valid/one_link.edgelist").string();
  io::ByteSource source(name);
  io::EdgeListReader reader(source);
  const io::EdgeListBlocks blocks(reader);
  CHECK_NOTHROW(blocks.require_nodes(max_node_count));
  CHECK_THROWS_WITH_AS(blocks.require_nodes(max_node_count + 1),
                       (name + ": more nodes than the 4294967294 that can be held").c_str(),
                       io::InputError);
}

TEST_CASE("a file's format is told by its banner, its name and its first line") {
  using io::GraphFormat;
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
  for (const bool compress : {false, true}) {
    CHECK(format_of("g.mtx", banner, compress) == GraphFormat::matrix_market);
    CHECK(format_of("g.txt", " " + banner, compress) == GraphFormat::matrix_market);
    CHECK(format_of("g", "%%matrixmarket x", compress) == GraphFormat::matrix_market);
    CHECK(format_of("g.txt", "%MatrixMarket x", compress) == GraphFormat::matrix_market);
    CHECK(format_of("g", "%MatrixMarketing\n1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("g.mtx.gz", "1 2\n", compress) == GraphFormat::matrix_market);
    for (const char* name :
         {"g.txt", "g.el", "g.wel", "g.tsv", "g.edges", "g.edgelist", "g.el.gz"}) {
      CHECK(format_of(name, "1 2\n", compress) == GraphFormat::edge_list);
      CHECK(format_of(name, "", compress) == GraphFormat::edge_list);
    }
    CHECK(format_of("g", "# Nodes: 3\n1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("g", "\n \r\n\t# Nodes: 3\n1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("G.EDGES", "1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("g.Txt.GZ", "1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("G.MTX", "# 1 2\n", compress) == GraphFormat::matrix_market);
    CHECK(format_of("g", "\n\n", compress) == GraphFormat::matrix_market);
    using namespace std::string_literals;
    CHECK_THROWS_AS((void)format_of("g.mtx", "\x28\xb5\x2f\xfd\x24"s, compress), io::InputError);
    CHECK_THROWS_AS((void)format_of("g.txt",
                                    "\xfd"
                                    "7zXZ\0\0"s,
                                    compress),
                    io::InputError);
    CHECK_THROWS_AS((void)format_of("g", "BZh91AY"s, compress), io::InputError);
    CHECK_THROWS_AS((void)format_of("g.txt", "PK\x03\x04"s, compress), io::InputError);
    CHECK(format_of("out.g", "% asym unweighted\n1 2\n", compress) == GraphFormat::edge_list);
    CHECK(format_of("g", "1 2\n", compress) == GraphFormat::matrix_market);
    CHECK(format_of("g", std::string(1000, '7'), compress) == GraphFormat::matrix_market);
    CHECK(format_of("g", "", compress) == GraphFormat::matrix_market);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
