// The rules of the house: who may include whom, and where libraries may appear.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("house");

namespace {

struct Include {
  fs::path file;  ///< Relative to the checkout.
  std::string room, name;
  bool quoted;
};

const std::set<std::string> rooms = {"app", "core", "gpu", "io"};

std::vector<Include> all_includes() {
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const std::string& room : rooms) {
    for (const auto& file : fs::recursive_directory_iterator(source_dir() / room)) {
      const std::string extension = file.path().extension().string();
      if (!std::set<std::string>{".hpp", ".cpp", ".cuh", ".cu"}.contains(extension)) continue;
      std::ifstream text(file.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, directive)) continue;
        includes.push_back(
            {fs::relative(file.path(), source_dir()), room, match[2], match[1] == "\""});
      }
    }
  }
  return includes;
}

std::string room_of(const std::string& include) {
  return include.substr(0, include.find('/'));
}

}  // namespace

TEST_CASE("core includes nobody, io and gpu only core, app everybody") {
  const std::map<std::string, std::set<std::string>> may_include = {
      {"core", {"core"}},
      {"io", {"io", "core"}},
      {"gpu", {"gpu", "core"}},
      {"app", {"app", "core", "gpu", "io"}}};
  int seen = 0;
  for (const Include& include : all_includes()) {
    const std::string target = room_of(include.name);
    if (!include.quoted && !rooms.contains(target)) continue;
    CAPTURE(include.file.string());
    CAPTURE(include.name);
    CHECK(include.quoted);  // ours are quoted, from the root of the checkout
    CHECK(may_include.at(include.room).contains(target));
    CHECK(fs::exists(source_dir() / include.name));
    ++seen;
  }
  CHECK(seen > 50);
}

TEST_CASE("each library stays in its room") {
  const std::vector<std::pair<std::regex, std::string>> homes = {
      {std::regex("^(boost|spdlog|fmt)/"), "app"},
      {std::regex("^(zlib\\.h|xxhash\\.h|nlohmann/)"), "io"},
      {std::regex("^(cuda|cusparse|cublas|cub/|thrust/|device_launch)"), "gpu"},
      {std::regex("^omp\\.h"), "core"}};
  for (const Include& include : all_includes()) {
    for (const auto& [library, home] : homes) {
      if (!std::regex_search(include.name, library)) continue;
      CAPTURE(include.file.string());
      CAPTURE(include.name);
      CHECK(include.room == home);
    }
  }
}

TEST_CASE("files for a plain C++ compiler include no CUDA") {
  for (const Include& include : all_includes()) {
    const std::string extension = include.file.extension().string();
    if (extension == ".cu" || extension == ".cuh") continue;
    CAPTURE(include.file.string());
    CAPTURE(include.name);
    CHECK_FALSE(include.name.ends_with(".cuh"));
    CHECK_FALSE(std::regex_search(include.name, std::regex("^(cuda|cusparse|cub/|thrust/)")));
  }
}

TEST_CASE("only gpu has files for the CUDA compiler, and every header is included once") {
  for (const std::string& room : rooms) {
    for (const auto& file : fs::recursive_directory_iterator(source_dir() / room)) {
      const std::string extension = file.path().extension().string();
      CAPTURE(file.path().string());
      if (extension == ".cu" || extension == ".cuh") CHECK(room == "gpu");
      if (extension == ".hpp" || extension == ".cuh") {
        CHECK(read_file(file.path()).rfind("#pragma once", 0) == 0);
      }
    }
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
