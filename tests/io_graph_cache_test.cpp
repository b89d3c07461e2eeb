#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "core/graph_generator.hpp"
#include "core/transition_builder.hpp"
#include "io/atomic_file.hpp"
#include "io/graph_cache.hpp"
#include "io/input_error.hpp"
#include "io/matrix_market_reader.hpp"
#include "tests/memory_file.hpp"
#include "tests/simple_reader.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

namespace format = io::graph_cache;

void check_same_matrix(const TransitionMatrix& a, const TransitionMatrix& b) {
  CHECK(same_bits(a.in_links.row_offsets, b.in_links.row_offsets));
  CHECK(same_bits(a.in_links.column_indices, b.in_links.column_indices));
  CHECK(same_bits(a.in_links.values, b.in_links.values));
  CHECK(same_bits(a.inverse_out_weight, b.inverse_out_weight));
  CHECK(a.dangling == b.dangling);
  CHECK(a.distinct_links == b.distinct_links);
  CHECK(a.more_unlinked == b.more_unlinked);
}

void check_same_graph(const io::CachedGraph& a, const io::CachedGraph& b) {
  check_same_matrix(a.matrix, b.matrix);
  CHECK(same_bits(a.labels, b.labels));
  CHECK(a.info.stamp == b.info.stamp);
  CHECK(a.info.format == b.info.format);
  CHECK(a.info.source_index == b.info.source_index);
  CHECK(a.info.symmetric == b.info.symmetric);
  CHECK(a.info.entries == b.info.entries);
}

io::CachedGraph load(const fs::path& path, int threads = 2) {
  return io::GraphCache(path.string()).load(threads);
}

/// The bytes of a cache of the graph.
std::string cache_of(const io::CachedGraph& graph) {
  const TemporaryDirectory files;
  io::write_graph_cache((files / "c").string(), graph);
  return read_file(files / "c");
}

std::string error_of(const std::string& bytes) {
  const MemoryFile file(bytes);
  try {
    (void)load(file.path(), 1);
  } catch (const io::InputError& error) {
    return error.what();
  }
  return {};
}

/// 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 2, 2 -> 0; 3 dangling. Rows: {2}, {0}, {0 1 2}, {}.
io::CachedGraph small_graph(bool weighted, bool labelled = false) {
  const std::vector<double> weights = {1, 3, 2, 1, 1};
  io::CachedGraph graph{.info = {.stamp = {.bytes = 123, .modified_ns = -45, .sample = 678},
                                 .source_index = SourceIndex::column,
                                 .entries = 5}};
  graph.matrix = make_transition_matrix(make_graph(4, {{0, 1}, {0, 2}, {1, 2}, {2, 2}, {2, 0}},
                                                   weighted ? weights : std::vector<double>{}));
  if (labelled) graph.info.format = io::GraphFormat::edge_list;
  if (labelled) graph.labels = {0, 7, 10, std::numeric_limits<std::uint64_t>::max()};
  return graph;
}

/// A cache whose checksums are right, whatever `change(header, sections)` made of it.
template <class Change>
std::string forged(const io::CachedGraph& graph, Change change) {
  std::string bytes = cache_of(graph);
  format::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const format::Layout layout = format::layout_of(header);
  change(header, [&](format::Section section, std::size_t i, auto number) {
    std::memcpy(bytes.data() + layout.sections[section].begin + i * sizeof number, &number,
                sizeof number);
  });
  header.content_checksum =
      format::content_checksum(format::contents_of(std::as_bytes(std::span(bytes)), layout), 1,
                               [](format::Section, std::size_t, std::size_t) {});
  header.header_checksum = format::header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every graph among the test files comes back from its cache bit for bit") {
  std::vector<fs::path> paths;
  for (const char* place : {"tests/data", "data"}) {
    for (const auto& file : fs::recursive_directory_iterator(source_dir() / place)) {
      if (has(file.path().filename().string(), ".mtx")) paths.push_back(file.path());
    }
  }
  const TemporaryDirectory files;
  const fs::path cache = files / "c.prgraph";
  int graphs = 0, weighted = 0, symmetric = 0;
  for (const fs::path& path : paths) {
    CAPTURE(path.string());
    for (const SourceIndex source_index : {SourceIndex::row, SourceIndex::column}) {
      io::CachedGraph graph{
          .info = {.stamp = io::source_stamp(path.string()).value(), .source_index = source_index}};
      try {
        io::ByteSource source(path.string());
        io::MatrixMarketReader reader(source);
        TransitionMatrixBuilder builder(reader.shape());
        reader.read_into(builder, source_index);
        graph.matrix = builder.build();
        graph.info.symmetric = reader.header().symmetric;
        graph.info.entries = reader.header().entries;
      } catch (const io::InputError&) {
        continue;
      }
      io::write_graph_cache(cache.string(), graph);
      check_same_graph(load(cache, 1), graph);
      check_same_graph(load(cache, 3), graph);
      ++graphs;
      weighted += graph.matrix.weighted();
      symmetric += graph.info.symmetric;
    }
  }
  CHECK(graphs >= 30);
  CHECK(weighted >= 5);
  CHECK(symmetric >= 5);
}

TEST_CASE("a graph of many pieces comes back from its cache, whoever checks which") {
  const TemporaryDirectory files;
  for (const GraphKind kind : {GraphKind::rmat, GraphKind::hub, GraphKind::diagonal}) {
    io::CachedGraph graph;
    EdgeList edges = generate_graph({.kind = kind, .nodes = 1 << 18, .links = 1 << 20, .seed = 3});
    graph.matrix = make_transition_matrix(edges);
    REQUIRE(graph.matrix.link_count() * sizeof(NodeId) >= format::piece_bytes);
    const std::string path = (files / "c").string();
    io::write_graph_cache(path, graph, 3);
    for (const int threads : {1, 2, 5}) check_same_graph(load(path, threads), graph);
  }
}

TEST_CASE("extreme weights come back from the cache") {
  const TemporaryDirectory files;
  const std::string path = (files / "c").string();
  io::CachedGraph graph;
  graph.matrix = make_transition_matrix(
      make_graph(4, {{0, 1}, {0, 2}, {1, 1}, {1, 3}, {3, 0}},
                 {-0.0, 1, 1e308, 1e-300, std::numeric_limits<double>::denorm_min()}));
  REQUIRE(std::signbit(graph.matrix.in_links.values[1]));
  io::write_graph_cache(path, graph);
  check_same_graph(load(path), graph);
}

TEST_CASE("labels are kept beside the matrix, one a node") {
  const TemporaryDirectory files;
  const std::string path = (files / "c").string();
  io::CachedGraph graph = small_graph(true, true);
  io::write_graph_cache(path, graph);
  check_same_graph(load(path), graph);
  graph.labels = {1, 2};
  CHECK_THROWS_AS(io::write_graph_cache(path, graph), std::invalid_argument);
  io::write_graph_cache(path, small_graph(true));
  CHECK(load(path).labels.empty());
}

TEST_CASE("a row that stands for many nodes comes back from the cache, or is refused") {
  io::CachedGraph graph;
  graph.matrix = make_transition_matrix(make_graph(4, {{0, 1}, {0, 2}, {1, 2}}));
  graph.matrix.more_unlinked = 1'000'000;
  graph.labels = {3, 70, 1'000'004};
  const TemporaryDirectory files;
  const std::string path = (files / "c").string();
  io::write_graph_cache(path, graph);
  check_same_graph(load(path), graph);
  const auto check = [&](const char* expected, auto change) {
    const std::string error = error_of(forged(graph, change));
    CAPTURE(error);
    CHECK(has(error, expected));
  };
  using Header = format::Header;
  check("the header makes no sense",
        [](Header& header, auto) { header.more_unlinked = 0xFFFF'FFFE; });
  check("a label is out of range",
        [](Header&, auto set) { set(format::labels, 2, std::uint64_t{1'000'005}); });
  check("a label is out of range",
        [](Header&, auto set) { set(format::labels, 0, std::uint64_t{0}); });
  check("the row of nodes without links has some",
        [](Header&, auto set) { set(format::row_offsets, 3, EdgeIndex{2}); });
  check("a column index is out of range",
        [](Header&, auto set) { set(format::column_indices, 2, NodeId{3}); });
  check("the row of nodes without links has some",
        [](Header&, auto set) { set(format::inverse_out_weight, 3, 1.0); });
  io::CachedGraph unnamed = graph;
  unnamed.labels = {1, 2};
  CHECK_THROWS_AS(io::write_graph_cache(path, unnamed), std::invalid_argument);
}

TEST_CASE("the matrix lies in the file, and outlives its name") {
  const TemporaryDirectory files;
  const fs::path path = files / "c";
  const io::CachedGraph graph = small_graph(false);
  io::write_graph_cache(path.string(), graph);
  const io::CachedGraph loaded = load(path);
  write_file(files / "d", "something else");
  fs::rename(files / "d", path);
  check_same_graph(loaded, graph);
  const auto* const offsets =
      reinterpret_cast<const char*>(loaded.matrix.in_links.row_offsets.data());
  const auto* const columns =
      reinterpret_cast<const char*>(loaded.matrix.in_links.column_indices.data());
  CHECK(columns - offsets == 64);  // five offsets, and the next multiple of 64 bytes
}

TEST_CASE("a cache is refused with any bit of it changed") {
  for (const bool weighted : {false, true}) {
    const std::string good = cache_of(small_graph(weighted, weighted));
    CHECK(error_of(good).empty());
    int accepted = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        accepted += error_of(bytes).empty();
      }
    }
    CHECK(accepted == 0);
  }
}

TEST_CASE("a cache is refused with its end missing, wherever it was cut, or with more behind it") {
  const std::string good = cache_of(small_graph(true));
  int accepted = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    accepted += error_of(good.substr(0, size)).empty();
  }
  for (const std::size_t more : {1, 64, 5000}) {
    accepted += error_of(good + std::string(more, '\0')).empty();
  }
  CHECK(accepted == 0);
  CHECK(has(error_of(good.substr(0, good.size() - 64)),
            "bytes, expected " + std::to_string(good.size())));
}

TEST_CASE("contents that would lead astray are refused whatever the checksums say") {
  const auto check = [](const char* expected, auto change) {
    const std::string error = error_of(forged(small_graph(true), change));
    CAPTURE(error);
    CHECK(has(error, "damaged graph cache"));
    CHECK(has(error, expected));
  };
  CHECK(error_of(forged(small_graph(true), [](auto&, auto) {})).empty());
  const char* const nonsense = "the header makes no sense";
  using Header = format::Header;
  check(nonsense, [](Header& header, auto) { header.nodes = 0; });
  check(nonsense, [](Header& header, auto) { header.nodes = 9; });
  check(nonsense, [](Header& header, auto) { header.nodes = 0xFFFF'FFFF; });
  check(nonsense, [](Header& header, auto) { header.nodes = ~0ULL; });
  check(nonsense, [](Header& header, auto) { header.links = 40; });
  check(nonsense, [](Header& header, auto) { header.links = 1ULL << 62; });
  check(nonsense, [](Header& header, auto) { header.distinct_links = 6; });
  check(nonsense, [](Header& header, auto) { header.flags |= 1 << 20; });
  check(nonsense, [](Header& header, auto) { header.flags |= format::labelled; });
  check(nonsense, [](Header& header, auto) { header.reserved[1] = 1; });
  check(nonsense, [](Header& header, auto) { header.file_bytes += 64; });
  io::CachedGraph no_links;
  no_links.matrix = make_transition_matrix(make_graph(4, {}));
  CHECK(has(
      error_of(forged(no_links, [](Header& header, auto) { header.flags |= format::weighted; })),
      nonsense));
  check("it has 384 bytes, expected 1048896",
        [](Header& header, auto) {  // a file that is far too short
          header.nodes = 1 << 16;
          header.file_bytes = format::layout_of(header).file_bytes;
        });
  check("it has 384 bytes, expected 12583168",
        [](Header& header, auto) {  // cut off before most of its links
          header.links = 1 << 20;
          header.file_bytes = format::layout_of(header).file_bytes;
        });

  const auto put = [&check](const char* expected, format::Section section, std::size_t i,
                            auto number) {
    check(expected, [=](Header&, auto set) { set(section, i, number); });
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  put("row offsets do not begin at 0", format::row_offsets, 0, EdgeIndex{1});
  check("row offsets do not end at the number of links", [](Header&, auto set) {
    set(format::row_offsets, 3, EdgeIndex{4});
    set(format::row_offsets, 4, EdgeIndex{4});
  });
  put("row offsets descend", format::row_offsets, 4, EdgeIndex{6});
  put("row offsets descend", format::row_offsets, 1, EdgeIndex{3});
  put("row offsets descend", format::row_offsets, 2, ~EdgeIndex{0});
  put("a column index is out of range", format::column_indices, 4, NodeId{4});
  put("a column index is out of range", format::column_indices, 0, ~NodeId{0});
  put("columns descend within a row", format::column_indices, 2, NodeId{3});
  for (const double bad : {nan, infinity, -1.0, 2.5}) {
    put("an element is not within [0, 2]", format::values, 4, bad);
    put("an inverse out-weight is not within [0, 1]", format::inverse_out_weight, 3, bad);
  }
  put("bytes between its sections are not 0", format::row_offsets, 40, char{1});
  put("bytes between its sections are not 0", format::inverse_out_weight, 7, 1.0);
}

TEST_CASE("a hidden descent or index is found in the last piece as in the first") {
  io::CachedGraph graph;
  graph.matrix = make_transition_matrix(generate_graph({.nodes = 1 << 16, .links = 700'000}));
  const CsrMatrix& links = graph.matrix.in_links;
  const EdgeIndex last = links.element_count() - 1;
  for (const EdgeIndex at : {EdgeIndex{0}, EdgeIndex{1 << 18}, EdgeIndex{1 << 19}, last}) {
    CHECK(has(
        error_of(forged(
            graph, [&](auto&, auto set) { set(format::column_indices, at, links.row_count()); })),
        "out of range"));
  }
  // Two nodes of one name.
  for (const std::uint64_t label : {std::uint64_t{0}, std::uint64_t{10}}) {
    CHECK(has(error_of(forged(small_graph(true, true),
                              [&](auto&, auto set) { set(format::labels, 1, label); })),
              "labels do not ascend"));
  }
  // A row that spans the end of a piece, made to descend exactly there.
  io::CachedGraph hub;
  hub.matrix = make_transition_matrix(
      generate_graph({.kind = GraphKind::hub, .nodes = 1 << 19, .links = 1 << 20}));
  const std::size_t border = format::piece_bytes / sizeof(NodeId);
  REQUIRE(hub.matrix.in_links.row_offsets[1] > border);  // within the first row
  CHECK(has(error_of(forged(
                hub, [&](auto&, auto set) { set(format::column_indices, border, NodeId{0}); })),
            "columns descend within a row"));
}

TEST_CASE("caches of other formats and machines are named as such") {
  const auto error_with = [](auto change) {
    return error_of(forged(small_graph(false), [&](format::Header& h, auto) { change(h); }));
  };
  CHECK(has(error_with([](format::Header& h) { h.version = 1; }),
            "graph cache of format 1, this program reads 2"));
  CHECK(
      has(error_with([](format::Header& h) { h.byte_order = 0x0403'0201; }), "another byte order"));
  CHECK(has(error_with([](format::Header& h) { h.magic[0] = 'Q'; }), "not a graph cache"));
  CHECK(has(error_of(std::string(500, 'x')), "not a graph cache"));
  CHECK(has(error_of(""), "shorter than a header"));
  CHECK_THROWS_AS(io::GraphCache("/no/such/file.prgraph"), io::InputError);
  CHECK_THROWS_AS(io::GraphCache(source_dir().string()), io::InputError);
  CHECK_THROWS_AS(io::GraphCache("/dev/null"), io::InputError);
}

TEST_CASE("a stamp tells files apart by size, by time and by what they begin and end with") {
  const TemporaryDirectory files;
  const fs::path path = files / "g";
  const std::string text(300'000, 'x');
  write_file(path, text);
  const auto time = fs::last_write_time(path);
  const auto stamp_with = [&](const std::string& bytes) {
    write_file(path, bytes);
    fs::last_write_time(path, time);
    return io::source_stamp(path.string()).value();
  };
  const io::SourceStamp stamp = stamp_with(text);
  CHECK(stamp.bytes == 300'000);
  CHECK(stamp_with(text) == stamp);
  CHECK_FALSE(stamp_with(text + "x") == stamp);
  CHECK_FALSE(stamp_with("y" + text.substr(1)) == stamp);
  CHECK_FALSE(stamp_with(text.substr(1) + "y") == stamp);
  (void)stamp_with(text);
  fs::last_write_time(path, time + std::chrono::nanoseconds(1));
  CHECK_FALSE(io::source_stamp(path.string()) == stamp);
  CHECK(io::source_stamp(path.string()).value().modified_ns == stamp.modified_ns + 1);

  CHECK_FALSE(io::source_stamp("-").has_value());
  CHECK_FALSE(io::source_stamp(files.path().string()).has_value());
  CHECK_FALSE(io::source_stamp((files / "none").string()).has_value());
  REQUIRE(mkfifo((files / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(io::source_stamp((files / "pipe").string()).has_value());  // and does not wait
}

TEST_CASE("a graph cache is known by its name or how it begins") {
  const TemporaryDirectory files;
  io::write_graph_cache((files / "c").string(), small_graph(false));
  write_file(files / "g.mtx", "%%MatrixMarket");
  REQUIRE(mkfifo((files / "pipe").c_str(), 0600) == 0);
  CHECK(io::is_graph_cache((files / "c").string()));
  CHECK(io::is_graph_cache("none.prgraph"));
  CHECK_FALSE(io::is_graph_cache((files / "g.mtx").string()));
  CHECK_FALSE(io::is_graph_cache((files / "none").string()));
  CHECK_FALSE(io::is_graph_cache((files / "pipe").string()));
  CHECK_FALSE(io::is_graph_cache("-"));
}

TEST_CASE("graphs of one name have caches of different names in one directory") {
  const TemporaryDirectory files;
  fs::create_directory(files / "a");
  fs::create_directory(files / "b");
  fs::create_directory(files / "caches");
  for (const char* graph : {"a/g.mtx", "b/g.mtx"}) write_file(files / graph, "");
  const std::string caches = (files / "caches").string();
  const std::string a = io::graph_cache_path((files / "a/g.mtx").string(), caches);
  CHECK(a != io::graph_cache_path((files / "b/g.mtx").string(), caches));
  CHECK(a == io::graph_cache_path((files / "b/../a/g.mtx").string(), caches));
  CHECK(a.starts_with(caches + "/g.mtx."));
  CHECK(a.ends_with(".prgraph"));
  CHECK(io::graph_cache_path("some/g.mtx", "") == "some/g.mtx.prgraph");
}

TEST_CASE("a cache that cannot be written leaves nothing behind") {
  const TemporaryDirectory files;
  CHECK_THROWS_AS(io::write_graph_cache((files / "no/c").string(), small_graph(false)),
                  io::OutputError);
  CHECK_THROWS_AS(io::write_graph_cache("/dev/full", small_graph(false)), io::OutputError);
  CHECK(fs::is_empty(files.path()));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
