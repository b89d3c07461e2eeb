#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/atomic_file.hpp"
#include "io/report.hpp"
#include "io/score_writer.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

namespace {

const std::vector<double> scores = {0.1, 1.0 / 3, 5e-324, 0.30000000000000004};
const std::vector<NodeId> order = {1, 3, 0, 2};

std::string written(io::ScoreFormat format, const std::string& comment = {}) {
  std::ostringstream out;
  io::write_scores(out, format, {scores, order}, comment);
  return out.str();
}

}  // namespace

TEST_CASE("tsv and csv are ranked rows under a header, digits enough to read back") {
  CHECK(written(io::ScoreFormat::tsv) ==
        "rank\tnode\tscore\n1\t2\t0.3333333333333333\n2\t4\t0.30000000000000004\n3\t1\t0.1\n"
        "4\t3\t5e-324\n");
  CHECK(written(io::ScoreFormat::csv) ==
        "rank,node,score\n1,2,0.3333333333333333\n2,4,0.30000000000000004\n3,1,0.1\n"
        "4,3,5e-324\n");
}

TEST_CASE("json is an array of ranked rows") {
  const auto json = nlohmann::json::parse(written(io::ScoreFormat::json));
  REQUIRE(json.size() == 4);
  for (std::size_t place = 0; place < 4; ++place) {
    CHECK(json[place]["rank"] == place + 1);
    CHECK(json[place]["node"] == order[place] + 1);
    CHECK(json[place]["score"].get<double>() == scores[order[place]]);
  }
}

TEST_CASE("ranked formats of no nodes are still well-formed") {
  std::ostringstream json, tsv;
  io::write_scores(json, io::ScoreFormat::json, {scores, {}});
  io::write_scores(tsv, io::ScoreFormat::tsv, {scores, {}});
  CHECK(nlohmann::json::parse(json.str()).empty());
  CHECK(tsv.str() == "rank\tnode\tscore\n");
}

TEST_CASE("mtx is a dense vector in node order, with the comment") {
  CHECK(written(io::ScoreFormat::matrix_market, "two\nlines") ==
        "%%MatrixMarket matrix array real general\n% two\n% lines\n4 1\n0.1\n0.3333333333333333\n"
        "5e-324\n0.30000000000000004\n");
}

TEST_CASE("npy is NumPy's format: magic, padded header, little-endian float64") {
  const std::string bytes = written(io::ScoreFormat::npy);
  REQUIRE(bytes.size() % 64 == scores.size() * sizeof(double) % 64);
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
  const std::size_t header = static_cast<unsigned char>(bytes[8]) +
                             std::size_t{256} * static_cast<unsigned char>(bytes[9]);
  CHECK((10 + header) % 64 == 0);
  CHECK(bytes.substr(10, header).find("'descr': '<f8', 'fortran_order': False, 'shape': (4,)") !=
        std::string::npos);
  CHECK(bytes[9 + header] == '\n');
  REQUIRE(bytes.size() == 10 + header + sizeof(double) * scores.size());
  CHECK(std::memcmp(bytes.data() + 10 + header, scores.data(), sizeof(double) * scores.size()) ==
        0);
}

TEST_CASE("every format shows labels where nodes have them") {
  const NodeLabels labels = {0, 7, 9007199254740993, 18446744073709551615u};
  const auto labelled = [&](io::ScoreFormat format) {
    std::ostringstream out;
    io::write_scores(out, format, {scores, order, {labels}}, "comment");
    return out.str();
  };
  CHECK(labelled(io::ScoreFormat::tsv) ==
        "rank\tnode\tscore\n1\t7\t0.3333333333333333\n"
        "2\t18446744073709551615\t0.30000000000000004\n3\t0\t0.1\n4\t9007199254740993\t5e-324\n");
  CHECK(labelled(io::ScoreFormat::csv).ends_with("\n3,0,0.1\n4,9007199254740993,5e-324\n"));
  const auto json = nlohmann::json::parse(labelled(io::ScoreFormat::json));
  for (std::size_t place = 0; place < 4; ++place) {
    CHECK(json[place]["node"].get<std::uint64_t>() == labels[order[place]]);
  }
  CHECK(labelled(io::ScoreFormat::matrix_market) ==
        "%%MatrixMarket matrix array real general\n% comment\n"
        "% the nodes, in the order of their scores:\n% 0\n% 7\n% 9007199254740993\n"
        "% 18446744073709551615\n4 1\n0.1\n0.3333333333333333\n5e-324\n0.30000000000000004\n");
}

TEST_CASE("ranked formats write as many rows as are asked for") {
  std::ostringstream out;
  io::write_scores(out, io::ScoreFormat::csv, {scores, order, {}, 2});
  CHECK(out.str() == "rank,node,score\n1,2,0.3333333333333333\n2,4,0.30000000000000004\n");
}

TEST_CASE("every format writes the nodes that a last row stands for, in their places") {
  // Nodes 1 to 6, of which 2 and 5 have links.
  const std::vector<double> of_rows = {0.5, 0.2, 0.075};
  const NodeLabels linked = {2, 5};
  const auto text = [&](io::ScoreFormat format, std::uint64_t most = UINT64_MAX) {
    std::ostringstream out;
    io::write_scores(out, format, {of_rows, std::vector<NodeId>{0, 1, 2}, {linked, 3}, most});
    return out.str();
  };
  CHECK(text(io::ScoreFormat::csv) ==
        "rank,node,score\n1,2,0.5\n2,5,0.2\n3,1,0.075\n4,3,0.075\n5,4,0.075\n6,6,0.075\n");
  CHECK(text(io::ScoreFormat::csv, 4) ==
        "rank,node,score\n1,2,0.5\n2,5,0.2\n3,1,0.075\n4,3,0.075\n");
  CHECK(text(io::ScoreFormat::matrix_market) ==
        "%%MatrixMarket matrix array real general\n6 1\n0.075\n0.5\n0.075\n0.075\n0.2\n0.075\n");
  const std::string bytes = text(io::ScoreFormat::npy);
  CHECK(bytes.find("'descr': '<f8', 'fortran_order': False, 'shape': (6,)") != std::string::npos);
  const double expected[] = {0.075, 0.5, 0.075, 0.075, 0.2, 0.075};
  const std::size_t header = bytes.find('\n') + 1;
  REQUIRE(bytes.size() == header + sizeof expected);
  CHECK(std::memcmp(bytes.data() + header, expected, sizeof expected) == 0);
}

TEST_CASE("npy of labelled nodes is an array of records") {
  NodeLabels labels(10'000);
  std::vector<double> many(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = i * i << 30;
    many[i] = 1.0 / static_cast<double>(i + 1);
  }
  std::ostringstream out;
  io::write_scores(out, io::ScoreFormat::npy, {many, {}, {labels}});
  const std::string bytes = out.str();
  const std::size_t header = bytes.find('\n') + 1;
  CHECK(header % 64 == 0);
  CHECK(bytes.find("'descr': [('node', '<u8'), ('score', '<f8')], 'fortran_order': False, "
                   "'shape': (10000,)") != std::string::npos);
  REQUIRE(bytes.size() == header + 16 * labels.size());
  bool same = true;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::uint64_t label = 0;
    double score = 0;
    std::memcpy(&label, bytes.data() + header + 16 * i, sizeof label);
    std::memcpy(&score, bytes.data() + header + 16 * i + sizeof label, sizeof score);
    same = same && label == labels[i] && score == many[i];
  }
  CHECK(same);
}

TEST_CASE("format names are the extensions") {
  for (const char* name : {"tsv", "csv", "json", "mtx", "npy"}) {
    CHECK(io::score_format_named(name).has_value());
  }
  CHECK_FALSE(io::score_format_named("txt").has_value());
  CHECK_FALSE(io::score_format_named("").has_value());
}

TEST_CASE("a file appears whole or not at all") {
  const TemporaryDirectory files;
  const fs::path path = files / "out.tsv";
  const auto file_count = [&files] {
    return std::distance(fs::directory_iterator(files.path()), fs::directory_iterator());
  };
  SUBCASE("without commit nothing is left") {
    {
      io::AtomicFile file(path.string());
      file.stream() << "half";
    }
    CHECK(file_count() == 0);
  }
  SUBCASE("the old file stays until commit") {
    write_file(path, "old");
    {
      io::AtomicFile file(path.string());
      file.stream() << "half" << std::flush;
      CHECK(read_file(path) == "old");
    }
    CHECK(read_file(path) == "old");
    {
      io::AtomicFile file(path.string());
      file.stream() << "new";
      file.commit();
    }
    CHECK(read_file(path) == "new");
    CHECK(file_count() == 1);
  }
  SUBCASE("a symbolic link keeps pointing where it did") {
    write_file(files / "target", "old");
    fs::create_symlink("target", path);
    io::AtomicFile file(path.string());
    file.stream() << "new";
    file.commit();
    CHECK(fs::is_symlink(path));
    CHECK(read_file(files / "target") == "new");
  }
  SUBCASE("a symbolic link to nothing yet makes what it points to") {
    fs::create_symlink("target", path);
    io::AtomicFile file(path.string());
    file.stream() << "new";
    file.commit();
    CHECK(fs::is_symlink(path));
    CHECK(read_file(files / "target") == "new");
  }
  SUBCASE("a private file stays private") {
    write_file(path, "old");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    io::AtomicFile file(path.string());
    file.commit();
    CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  }
  SUBCASE("two that are written at once do not meet") {
    io::AtomicFile first(path.string()), second(path.string());
    first.stream() << "first";
    second.stream() << "the second" << std::flush;
    first.commit();
    CHECK(read_file(path) == "first");
    second.commit();
    CHECK(read_file(path) == "the second");
    CHECK(file_count() == 1);
  }
  SUBCASE("a process that is killed leaves nothing") {
    const int unnamed = open(files.path().c_str(), O_TMPFILE | O_RDWR, 0600);
    if (unnamed < 0) {
      MESSAGE("not tested: this file system has no files without names");
      return;
    }
    close(unnamed);
    const pid_t child = fork();
    if (child == 0) {
      io::AtomicFile file(path.string());
      file.stream() << "half" << std::flush;
      raise(SIGKILL);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(file_count() == 0);
  }
  SUBCASE("another program may read it before commit by a temporary name") {
    {
      io::AtomicFile file(path.string(), io::AtomicFile::Until::temporary_name);
      file.stream() << "whole" << std::flush;
      CHECK(fs::path(file.written_path()).parent_path() == files.path());
      CHECK(read_file(file.written_path()) == "whole");
    }
    CHECK(file_count() == 0);
  }
  SUBCASE("what cannot be written is an error") {
    CHECK_THROWS_AS(io::AtomicFile((files / "missing/out.tsv").string()), io::OutputError);
    CHECK_THROWS_AS(io::AtomicFile(files.path().string()), io::OutputError);
    io::AtomicFile full("/dev/full");
    full.stream() << "x";
    CHECK_THROWS_WITH_AS(full.commit(), doctest::Contains("No space left"), io::OutputError);
  }
  SUBCASE("why writing failed is said, however long ago that was") {
    const std::string most_of_a_buffer(5000, 'x'), many_buffers(1 << 20, 'x');
    for (const std::string& piece : {most_of_a_buffer, many_buffers}) {
      io::AtomicFile committed("/dev/full"), flushed("/dev/full");
      for (io::AtomicFile* const file : {&committed, &flushed}) {
        for (int i = 0; i < 3; ++i) file->stream() << piece;
      }
      CHECK_THROWS_WITH_AS(committed.commit(), "cannot write /dev/full: No space left on device",
                           io::OutputError);
      CHECK_THROWS_WITH_AS(flushed.flush(), "cannot write /dev/full: No space left on device",
                           io::OutputError);
    }
  }
}

TEST_CASE("the report is JSON with every field") {
  io::Report report;
  report.graph = {.path = "a\"b\xff.mtx",
                  .format = "edges",
                  .nodes = 4,
                  .smallest_node = 7,
                  .largest_node = 18446744073709551615u,
                  .entries = 5,
                  .links = 6,
                  .dangling = 1,
                  .weighted = true,
                  .symmetric = false,
                  .source = "row",
                  .cache = "c.prgraph"};
  report.options = {.alpha = 0.85,
                    .dangling = "teleport",
                    .assignment = false,
                    .source = "row",
                    .engine = "auto",
                    .reader = "device",
                    .device = 1,
                    .gpu_memory = 5'000'000'000,
                    .kernel = "",
                    .precision = "double",
                    .threads = 2,
                    .tolerance = 1e-8,
                    .max_iterations = 1000};
  report.reader = "host";
  report.engine = "cpu";
  report.device = "CPU, 2 threads";
  report.precision = "double";
  report.iterations = 3;
  report.converged = true;
  report.error_bound = 1e-9;
  report.certified_depth = 4;
  report.residual_history = {0.5, 0.25, 0.1};
  report.seconds = {.read = 1,
                    .context = 0.5,
                    .stream = 0.25,
                    .build = 2,
                    .cache = 7,
                    .upload = 3,
                    .solve = 4,
                    .rank = 5,
                    .write = 6,
                    .total = 28};
  report.version = "9.9";
  std::ostringstream out;
  io::write_report(out, report);
  const auto json = nlohmann::json::parse(out.str());
  CHECK(json["schema_version"] == 1);
  CHECK(json["graph"]["path"].get<std::string>().starts_with("a\"b"));
  CHECK(json["graph"]["format"] == "edges");
  CHECK(json["graph"]["nodes"] == 4);
  CHECK(json["graph"]["smallest_node"] == 7);
  CHECK(json["graph"]["largest_node"].get<std::uint64_t>() == 18446744073709551615u);
  CHECK(json["graph"]["entries"] == 5);
  CHECK(json["graph"]["links"] == 6);
  CHECK(json["graph"]["dangling"] == 1);
  CHECK(json["graph"]["weighted"] == true);
  CHECK(json["graph"]["source"] == "row");
  CHECK(json["graph"]["cache"] == "c.prgraph");
  CHECK(json["options"]["alpha"] == 0.85);
  CHECK(json["options"]["tolerance"] == 1e-8);
  CHECK(json["options"]["max_iterations"] == 1000);
  CHECK(json["options"]["gpu_memory"] == 5'000'000'000);
  CHECK(json["options"]["source"] == "row");
  CHECK(json["options"]["device"] == 1);
  CHECK(json["options"]["kernel"].is_null());
  CHECK(json["options"]["reader"] == "device");
  CHECK(json["reader"] == "host");
  CHECK(json["kernel"].is_null());
  CHECK(json["device"] == "CPU, 2 threads");
  CHECK(json["converged"] == true);
  CHECK(json["error_bound"] == 1e-9);
  CHECK(json["certified_depth"] == 4);
  CHECK(json["residual_history"] == std::vector<double>{0.5, 0.25, 0.1});
  for (const char* phase : {"read", "context", "stream", "build", "cache", "upload", "solve",
                            "rank", "write", "total"}) {
    CHECK(json["seconds"][phase].is_number());
  }
  CHECK(json["seconds"]["context"] == 0.5);
  CHECK(json["seconds"]["stream"] == 0.25);
  CHECK(json["version"] == "9.9");
}

TEST_SUITE_END();
}  // namespace pagerank::tests
