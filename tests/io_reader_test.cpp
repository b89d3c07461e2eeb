// The Matrix Market reader on text of our own: what it accepts, what it refuses, and where.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <mutex>
#include <tuple>
#include <utility>

#include "io/byte_source.hpp"
#include "io/graph_text.hpp"
#include "io/input_error.hpp"
#include "io/matrix_market_entries.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

using io::ParseFault;

io::MatrixMarketGraph read_text(const std::string& text, bool compress = false,
                                SourceIndex source = SourceIndex::row) {
  const TemporaryDirectory files;
  const fs::path path = files / "graph.mtx";
  compress ? write_gzip_file(path, text) : write_file(path, text);
  io::ByteSource bytes(path.string());
  return io::read_matrix_market(bytes, source);
}

void check_refused(const std::string& text, ParseFault fault, std::uint64_t line) {
  CAPTURE(text);
  try {
    (void)read_text(text);
    FAIL_CHECK("was read");
  } catch (const io::ParseError& error) {
    CAPTURE(error.what());
    CHECK(static_cast<int>(error.fault()) == static_cast<int>(fault));
    CHECK(error.line() == line);
    const std::string place = "graph.mtx:" + std::to_string(line) + ": ";
    CHECK(std::string(error.what()).find(place) != std::string::npos);
    CHECK(std::string(error.what()).find(io::describe(fault)) != std::string::npos);
  }
}

const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string real = "%%MatrixMarket matrix coordinate real general\n";
const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";

double read_weight(const std::string& digits, const std::string& banner = real) {
  return read_text(banner + "1 1 1\n1 1 " + digits + "\n").edges.weights.at(0);
}

}  // namespace

TEST_CASE("a pattern file becomes an edge list in the file's order") {
  const io::MatrixMarketGraph graph = read_text(pattern + "3 3 3\n1 2\n3 1\n1 2\n");
  CHECK(graph.header.node_count == 3);
  CHECK(graph.header.entries == 3);
  CHECK(graph.edges.node_count == 3);
  CHECK(graph.edges.sources == Array<NodeId>{0, 2, 0});
  CHECK(graph.edges.targets == Array<NodeId>{1, 0, 1});
  CHECK(graph.edges.weights.empty());
  CHECK_FALSE(graph.edges.undirected);
}

TEST_CASE("the column index is the source where that is asked for") {
  const io::MatrixMarketGraph graph =
      read_text(pattern + "3 3 1\n1 2\n", false, SourceIndex::column);
  CHECK(graph.edges.sources == Array<NodeId>{1});
  CHECK(graph.edges.targets == Array<NodeId>{0});
}

TEST_CASE("every accepted field and symmetry is read, whatever its case") {
  for (const char* field : {"real", "REAL", "double", "integer", "Unsigned-Integer"}) {
    const std::string banner = std::string("%%matrixmarket MATRIX Coordinate ") + field;
    CHECK(read_text(banner + " general\n2 2 1\n1 2 7\n").edges.weights == Array<double>{7});
    CHECK(read_text(banner + " SYMMETRIC\n2 2 1\n2 1 7\n").edges.undirected);
  }
}

TEST_CASE("layout does not matter: CRLF, blanks, tabs, blank lines, comments, no final newline") {
  const std::string plain = real + "2 2 2\n1 2 1.5\n2 1 2\n";
  const EdgeList expected = read_text(plain).edges;
  for (const std::string& text : {
           real + "2 2 2\r\n1 2 1.5\r\n2 1 2\r\n",
           real + "% comment\n\n  \n%\n2 2 2\n1 2 1.5\n2 1 2",
           real + "  2\t2   2  \n\t1\t2\t1.5\t\n\n% between\n2    1  2 \r\n\n%end\n \n",
           " " + real + "2 2 2\n1 2 1.5\n2 1 2\n \r",
           real + "2 2 2\n0001 02 1.5\n2 1 2\n",
           real + "2 2 2\n+1 +2 1.5\n2 1 2\n",
       }) {
    CAPTURE(text);
    const EdgeList edges = read_text(text).edges;
    CHECK(edges.sources == expected.sources);
    CHECK(edges.targets == expected.targets);
    CHECK(edges.weights == expected.weights);
  }
}

TEST_CASE("compressed files are recognised by their bytes, not their name") {
  const io::MatrixMarketGraph graph = read_text(pattern + "3 3 2\n1 2\n3 1\n", true);
  CHECK(graph.edges.sources == Array<NodeId>{0, 2});
}

TEST_CASE("every double is read back exactly") {
  CHECK(read_weight("1e5") == 1e5);
  CHECK(read_weight("+1") == 1);
  CHECK(read_weight("+.5e-1") == 0.05);
  CHECK(read_weight(".5") == 0.5);
  CHECK(read_weight("1.") == 1);
  CHECK(read_weight("1E+2") == 100);
  CHECK(read_weight("0.1000000000000000055511151231257827021181583404541015625") == 0.1);
  CHECK(read_weight("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(read_weight("2.2250738585072011e-308") == 2.2250738585072011e-308);
  CHECK(read_weight("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(read_weight("1e-400") == 0);
  CHECK(read_weight("0.000" + std::string(400, '0') + "1e2") == 0);
  CHECK(read_weight("0e999999999999999999999") == 0);
  CHECK(read_weight("0." + std::string(400, '0') + "1e402") == 10);
  CHECK_FALSE(std::signbit(read_weight("-0")));
  CHECK(read_weight("123456789012345678901234567890", integer) == 123456789012345678901234567890.0);
  CHECK(read_weight("18446744073709551616", integer) == 18446744073709551616.0);
}

TEST_CASE("the banner is checked word by word") {
  check_refused("", ParseFault::bad_banner, 1);
  check_refused("\n" + pattern, ParseFault::bad_banner, 1);
  check_refused("3 3 1\n1 2\n", ParseFault::bad_banner, 1);
  check_refused("%%MatrixMarket matrix coordinate pattern\n", ParseFault::bad_banner, 1);
  check_refused("%%MatrixMarketmatrix coordinate pattern general\n", ParseFault::bad_banner, 1);
  check_refused("%%MatrixMarket vector array real\n", ParseFault::vector_object, 1);
  check_refused("%%MatrixMarket graph coordinate pattern general\n", ParseFault::unknown_object, 1);
  check_refused("%%MatrixMarket vector coordinate pattern general\n", ParseFault::vector_object, 1);
  check_refused("%%MatrixMarket matrix junk real general\n", ParseFault::unknown_format, 1);
  check_refused("%%MatrixMarket matrix array real general\n2 2\n1\n", ParseFault::array_format, 1);
  check_refused("%%MatrixMarket matrix coordinate quaternion general\n", ParseFault::unknown_field,
                1);
  check_refused("%%MatrixMarket matrix coordinate complex general\n", ParseFault::complex_field, 1);
  check_refused("%%MatrixMarket matrix coordinate real junk\n", ParseFault::unknown_symmetry, 1);
  check_refused("%%MatrixMarket matrix coordinate real hermitian\n", ParseFault::hermitian, 1);
  check_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n",
                ParseFault::skew_symmetric, 1);
  check_refused("%%MatrixMarket matrix coordinate real general extra\n",
                ParseFault::trailing_characters, 1);
}

TEST_CASE("the size line is checked number by number") {
  check_refused(pattern, ParseFault::missing_size_line, 1);
  check_refused(pattern + "% only\n\n% comments\n", ParseFault::missing_size_line, 4);
  check_refused(pattern + "\n3 3\n", ParseFault::bad_size_line, 3);
  check_refused(pattern + "3\n", ParseFault::bad_size_line, 2);
  check_refused(pattern + "3 3 x\n", ParseFault::bad_size_line, 2);
  check_refused(pattern + "3 3 1.5\n", ParseFault::bad_size_line, 2);
  check_refused(pattern + "-3 -3 1\n", ParseFault::bad_size_line, 2);
  check_refused(pattern + "3 3 -1\n", ParseFault::bad_size_line, 2);
  check_refused(pattern + "3 3 18446744073709551616\n", ParseFault::entry_count_too_large, 2);
  check_refused(pattern + "3 3 1 1\n", ParseFault::trailing_characters, 2);
  check_refused(pattern + "3 4 1\n", ParseFault::not_square, 2);
  check_refused(pattern + "0 0 0\n", ParseFault::no_nodes, 2);
  check_refused(pattern + "4294967295 4294967295 1\n", ParseFault::too_many_nodes, 2);
  check_refused(pattern + "99999999999999999999 1 1\n", ParseFault::too_many_nodes, 2);
  CHECK(read_text(pattern + "4294967294 4294967294 1\n1 4294967294\n").edges.targets ==
        Array<NodeId>{4294967293});
}

TEST_CASE("entries are checked field by field") {
  const std::string head = real + "3 3 2\n";
  check_refused(head + "1 2 1\nx 2 1\n", ParseFault::bad_row_index, 4);
  check_refused(head + "1.0 2 1\n", ParseFault::bad_row_index, 3);
  check_refused(head + "1,2,1\n", ParseFault::bad_row_index, 3);
  check_refused(head + "1 2x 1\n", ParseFault::bad_column_index, 3);
  check_refused(head + "1\n", ParseFault::bad_column_index, 3);
  check_refused(head + "1 - 1\n", ParseFault::bad_column_index, 3);
  check_refused(head + "+ 2 1\n", ParseFault::bad_row_index, 3);
  check_refused(head + "+4 2 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "0 2 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "4 2 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "-1 2 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "1 0 1\n", ParseFault::column_out_of_range, 3);
  check_refused(head + "1 4 1\n", ParseFault::column_out_of_range, 3);
  check_refused(head + "18446744073709551615 1 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "18446744073709551616 1 1\n", ParseFault::index_too_large, 3);
  check_refused(head + "1 +99999999999999999999 1\n", ParseFault::index_too_large, 3);
  check_refused(head + "-99999999999999999999 1 1\n", ParseFault::row_out_of_range, 3);
  check_refused(head + "1 000000000000000000000004 1\n", ParseFault::column_out_of_range, 3);
  check_refused(head + "1 4294967297 1\n", ParseFault::column_out_of_range, 3);
  check_refused(head + "1 2\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 one\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 1.5.5\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 +-1\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 ++1\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 1e\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 0x10\n", ParseFault::bad_weight, 3);
  check_refused(head + "1 2 -1\n", ParseFault::negative_weight, 3);
  check_refused(head + "1 2 -1e-400\n", ParseFault::negative_weight, 3);
  check_refused(head + "1 2 inf\n", ParseFault::weight_not_finite, 3);
  check_refused(head + "1 2 -inf\n", ParseFault::weight_not_finite, 3);
  check_refused(head + "1 2 nan\n", ParseFault::weight_not_finite, 3);
  check_refused(head + "1 2 1e309\n", ParseFault::weight_not_finite, 3);
  check_refused(head + "1 2 -1e309\n", ParseFault::weight_not_finite, 3);
  check_refused(head + "1 2 1e99999999999999999999\n", ParseFault::weight_not_finite, 3);
  for (const char* const huge : {"1e9223372036854775807", "12e9223372036854775806",
                                 "1e9223372036854775808", "0.1e9223372036854775807"}) {
    CAPTURE(huge);
    check_refused(head + "1 2 " + huge + "\n", ParseFault::weight_not_finite, 3);
  }
  for (const char* const tiny :
       {"1e-9223372036854775807", ".0001e-9223372036854775807", "1e-9223372036854775808"}) {
    CAPTURE(tiny);
    CHECK(read_text(head + "1 2 " + tiny + "\n2 1 1\n").edges.weights.at(0) == 0);
  }
  check_refused(head + "1 2 1 1\n", ParseFault::trailing_characters, 3);
  check_refused(head + "1 2 1 % note\n", ParseFault::trailing_characters, 3);
  check_refused(integer + "3 3 1\n1 2 1.5\n", ParseFault::fractional_weight, 3);
  check_refused(integer + "3 3 1\n1 2 1e3\n", ParseFault::fractional_weight, 3);
  check_refused(integer + "3 3 1\n1 2 -1e-400\n", ParseFault::fractional_weight, 3);
  check_refused(integer + "3 3 1\n1 2 -4\n", ParseFault::negative_weight, 3);
  check_refused(pattern + "3 3 1\n1 2 1\n", ParseFault::trailing_characters, 3);
  check_refused(pattern + "3 3 1\n\n% c\n1\n", ParseFault::bad_column_index, 5);
}

TEST_CASE("a last line without newline that ends too early is called cut off") {
  const std::string head = real + "3 3 2\n1 2 1\n";
  for (const std::string line : {"1", "1 ", "1 2", "1 2\t", "1 2 \r"}) {
    const bool has_column = line.find('2') != std::string::npos;
    check_refused(head + line, ParseFault::cut_off_entry, 4);
    check_refused(head + line + '\n',
                  has_column ? ParseFault::bad_weight : ParseFault::bad_column_index, 4);
  }
  CHECK_THROWS_WITH(read_text(head + "1 2"),
                    doctest::Contains("4: the file ends in the middle of an entry: expected a "
                                      "number as weight"));
  check_refused(pattern + "3 3 2\n1 2\n3", ParseFault::cut_off_entry, 4);
  for (const std::string weight : {"1e", "1e+", "0.5E-", "-", "+", ".", "+.", "-.", "1e400e"}) {
    CAPTURE(weight);
    const bool goes_on = weight != "1e400e";
    check_refused(head + "1 2 " + weight,
                  goes_on ? ParseFault::cut_off_entry : ParseFault::bad_weight, 4);
    check_refused(head + "1 2 " + weight + '\n', ParseFault::bad_weight, 4);
    check_refused(head + "1 2 " + weight + ' ', ParseFault::bad_weight, 4);
  }
  // What is there is wrong already.
  check_refused(head + "1 x", ParseFault::bad_column_index, 4);
  check_refused(head + "4", ParseFault::row_out_of_range, 4);
  check_refused(head + std::string("1\0", 2), ParseFault::binary_data, 4);
  // Whole, but not the last.
  check_refused(head, ParseFault::too_few_entries, 3);
}

TEST_CASE("the number of entries is checked") {
  check_refused(pattern + "3 3 2\n1 2\n", ParseFault::too_few_entries, 3);
  check_refused(pattern + "3 3 2\n", ParseFault::too_few_entries, 2);
  check_refused(pattern + "3 3 1\n1 2\n\n1 3\n", ParseFault::too_many_entries, 5);
  check_refused(pattern + "3 3 0\n1 2\n", ParseFault::too_many_entries, 3);
  check_refused(pattern + "3 3 18446744073709551615\n1 2\n", ParseFault::entries_exceed_text, 2);
  // The same text, but that it may just hold as many, and may not.
  const std::string claims = pattern + "3 3 17\n1 2\n2 3\n";
  CHECK(claims.size() / 4 + 1 == 17);
  check_refused(claims, ParseFault::too_few_entries, 4);
  check_refused(pattern + "3 3 18\n1 2\n2 3\n", ParseFault::entries_exceed_text, 2);
  check_refused(pattern + "3 3 1\n1 2\n\x1a\n", ParseFault::binary_data, 4);
  check_refused(pattern + "3 3 1\n1 2\n" + std::string(3, '\0') + "\n", ParseFault::binary_data, 4);
  check_refused(pattern + "3 3 1" + std::string(1, '\0') + "\n1 2\n", ParseFault::binary_data, 2);
  check_refused(std::string("\x7f"
                            "ELF\2\1\1\0\0\0 \n",
                            12),
                ParseFault::binary_data, 1);
  CHECK(read_text(pattern + "3 3 0\n").edges.entry_count() == 0);
}

TEST_CASE("binary data and endless lines are refused without reading on") {
  const std::string head = pattern + "3 3 2\n";
  const std::string nul(1, '\0');
  check_refused(head + "1 2\n1 " + nul + "3\n", ParseFault::binary_data, 4);
  check_refused(head + nul + nul + "\n", ParseFault::binary_data, 3);
  check_refused(std::string(3 << 20, '\xff'), ParseFault::binary_data, 1);
  check_refused(std::string(3 << 20, 'x'), ParseFault::bad_banner, 1);
  check_refused(head + std::string(3 << 20, '\1'), ParseFault::binary_data, 3);
  check_refused(head + std::string(3 << 20, '7'), ParseFault::line_too_long, 3);
  check_refused(pattern + std::string(3 << 20, '7') + "\n", ParseFault::line_too_long, 2);
}

TEST_CASE("a line that is refused is called binary data where it is no text") {
  const std::string head = pattern + "3 3 2\n1 2\n";
  check_refused("\x89PNG\r\n\x1a\n", ParseFault::binary_data, 1);
  check_refused(head + "1 \x7f\n", ParseFault::binary_data, 4);
  check_refused(head + "4 1 \x01\n", ParseFault::binary_data, 4);
  CHECK_THROWS_WITH(read_text(head + "1 2\xa0\n"),
                    doctest::Contains("4: expected text, found binary data: found '\\xa0'"));
  // Text, though not what was expected: an Arabic digit, a minus sign, a quote, an emoji.
  for (const char* const word : {"\u0661", "\u22121", "\u201c1\u201d", "\U0001f600"}) {
    CAPTURE(word);
    check_refused(head + "1 " + word + "\n", ParseFault::bad_column_index, 4);
  }
  for (const char* const cut : {"\xe2\x88", "\xe2\x88 2", "caf\xe9"}) {  // characters cut off
    CAPTURE(cut);
    check_refused(head + "1 " + cut + "\n", ParseFault::binary_data, 4);
    check_refused(head + "1 " + cut, ParseFault::binary_data, 4);
  }
  const std::size_t mebibyte = std::size_t{1} << 20;
  for (const std::size_t cut : {0, 1, 2, 3}) {  // where the front of a long line ends
    std::string word(cut, 'x');
    while (word.size() < 3 * mebibyte) word += "\U0001f600";
    check_refused(head + word + "\n", ParseFault::line_too_long, 4);
    word[mebibyte / 4] = '\1';
    check_refused(head + word + "\n", ParseFault::binary_data, 4);
  }
  check_refused(head + "1 \xf8\x88\x88\x88\x88\n", ParseFault::binary_data, 4);
  // What is not refused may hold anything.
  CHECK(read_text(pattern + "%\x01\xff\n3 3 1\n%\x02\n1 2\n").edges.entry_count() == 1);
}

TEST_CASE("blocks are parsed by several threads at once") {
  using namespace std::chrono_literals;
  const TemporaryDirectory files;
  const std::string path = (files / "g").string();
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "1 2\n";
  write_file(path, lines);
  io::ByteSource source(path);
  io::GraphText text(source, {.threads = 3, .block_bytes = 64}, {.comment_marks = "%"});
  io::BlockLedger ledger = text.ledger();
  std::mutex mutex;
  std::condition_variable met;
  int inside = 0, most = 0;
  bool waited = false;
  // Who has the first block waits until another has one, too.
  const auto parse = [&](std::string_view block, io::ParsedEntries<NodeId>& entries) {
    std::unique_lock lock(mutex);
    most = std::max(most, ++inside);
    met.notify_all();
    if (!std::exchange(waited, true)) met.wait_for(lock, 10s, [&] { return most > 1; });
    --inside;
    entries.lines = static_cast<std::uint64_t>(std::count(block.begin(), block.end(), '\n'));
  };
  text.parse_blocks<NodeId>(ledger, parse, [](std::size_t, io::ParsedEntries<NodeId>&) {});
  CHECK(most > 1);
}

TEST_CASE("comments and blank lines may be longer than the buffer") {
  const std::string comment = "%" + std::string(3 << 20, 'c') + "\n";
  const std::string blank = std::string(5 << 20, ' ') + "\n";
  const io::MatrixMarketGraph graph =
      read_text(pattern + comment + blank + "3 3 1\n" + blank + comment + "1 2\n" + comment);
  CHECK(graph.edges.entry_count() == 1);
  CHECK(graph.header.lines == 4);
}

TEST_CASE("a file of many blocks keeps its order and its line numbers") {
  std::string text = pattern + "1000000 1000000 300000\n";
  for (int i = 1; i <= 300'000; ++i) {
    text += std::to_string(i) + ' ' + std::to_string(1'000'000 - i) + '\n';
  }
  for (const bool compress : {false, true}) {
    const EdgeList edges = read_text(text, compress).edges;
    REQUIRE(edges.entry_count() == 300'000);
    bool in_order = true;
    for (NodeId i = 0; i < 300'000; ++i) {
      in_order = in_order && edges.sources[i] == i && edges.targets[i] == 999'998 - i;
    }
    CHECK(in_order);
  }
  text.replace(text.rfind("\n300000 "), 8, "\n-00000 ");
  try {
    (void)read_text(text);
    FAIL_CHECK("was read");
  } catch (const io::ParseError& error) {
    CHECK(error.line() == 300'002);
  }
}

TEST_CASE("text parses the same whatever pieces it is cut into") {
  const std::string text = "1 2 1.5\n\n% c\n2 3 4e2\r\n3 1 0\n2 2 7";
  const io::MatrixMarketHeader header{
      .field = io::MatrixMarketHeader::Field::real, .node_count = 3, .entries = 4, .lines = 2};
  using Entry = std::tuple<NodeId, NodeId, double>;
  const auto parse = [&header](const std::string& lines, std::vector<Entry>& entries) {
    io::MatrixEntries result;
    io::parse_entries(lines, header, result);
    CHECK_FALSE(result.fault.has_value());
    for (std::size_t e = 0; e < result.entry_count(); ++e) {
      entries.emplace_back(result.first[e], result.second[e], result.weights[e]);
    }
    return result;
  };
  std::vector<Entry> whole;
  const io::MatrixEntries result = parse(text, whole);
  CHECK(result.lines == 6);
  CHECK(result.others == std::vector<std::uint32_t>{2, 3});
  CHECK(whole == std::vector<Entry>{{0, 1, 1.5}, {1, 2, 400}, {2, 0, 0}, {1, 1, 7}});
  for (std::size_t cut = text.find('\n'); cut != std::string::npos;
       cut = text.find('\n', cut + 1)) {
    std::vector<Entry> pieces;
    const auto first = parse(text.substr(0, cut + 1), pieces);
    const auto second = parse(text.substr(cut + 1), pieces);
    CHECK(pieces == whole);
    CHECK(first.lines + second.lines == 6);
  }
}

TEST_CASE("compressed data that is cut off or damaged is refused as such") {
  const TemporaryDirectory files;
  std::string text = pattern + "1000 1000 20000\n";
  for (int i = 0; i < 20'000; ++i) {
    text +=
        std::to_string(1 + i * 7919 % 1000) + ' ' + std::to_string(1 + i * 104'729 % 997) + '\n';
  }
  const fs::path path = files / "graph.mtx.gz";
  write_gzip_file(path, text);
  const auto bytes = fs::file_size(path);
  const auto read = [&path] {
    io::ByteSource source(path.string());
    (void)io::read_matrix_market(source, SourceIndex::row);
  };
  CHECK_NOTHROW(read());
  fs::resize_file(path, bytes / 2);
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("cut off"), io::InputError);
  write_gzip_file(path, text);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(bytes / 2));
  file << "damage in the middle";
  file.close();
  CHECK_THROWS_AS(read(), io::InputError);
}

TEST_CASE("quoted text in messages is short and printable") {
  CHECK(io::quoted("abc") == "'abc'");
  CHECK(io::quoted(std::string("a\0\xff", 3)) == "'a\\x00\\xff'");
  CHECK(io::quoted(std::string(100, 'x')).size() < 40);
}

TEST_CASE("every fault has its own description") {
  std::vector<std::string_view> seen;
  for (int f = 0; f <= static_cast<int>(ParseFault::line_too_long); ++f) {
    const std::string_view text = io::describe(static_cast<ParseFault>(f));
    CHECK(text.size() > 10);
    CHECK(std::find(seen.begin(), seen.end(), text) == seen.end());
    seen.push_back(text);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
