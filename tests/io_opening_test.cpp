// Files that cannot be opened: whose fault that is.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

#include "io/byte_source.hpp"
#include "io/input_error.hpp"
#include "io/mapped_file.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("io");

#if !defined(__SANITIZE_ADDRESS__)  // sanitizers open files to look at objects
TEST_CASE("where no file can be opened any more that is not said to be the file's fault") {
  const TemporaryDirectory files;
  const std::string path = (files / "g.txt").string();
  write_file(path, "1 2\n");
  rlimit usual{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
  rlimit none = usual;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto error_of = [](auto open) {
    try {
      open();
    } catch (...) {
      return std::current_exception();
    }
    return std::exception_ptr();
  };
  const std::exception_ptr errors[] = {error_of([&] { const io::ByteSource opened(path); }),
                                       error_of([&] { const io::MappedFile opened(path); })};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &usual) == 0);
  for (const std::exception_ptr& error : errors) {
    REQUIRE(error);
    try {
      std::rethrow_exception(error);
    } catch (const std::system_error& of_system) {
      CHECK(of_system.code() == std::errc::too_many_files_open);
    } catch (const std::exception& other) {
      FAIL_CHECK(other.what());
    }
  }
}
#endif

TEST_CASE("a file that cannot be opened is bad input, unless the system lacks what that takes") {
  const TemporaryDirectory files;
  const std::string missing = (files / "missing.mtx").string();
  CHECK_THROWS_WITH_AS(io::ByteSource{missing}, doctest::Contains("missing.mtx: No such file"),
                       io::InputError);
  CHECK_THROWS_WITH_AS(io::MappedFile{missing}, doctest::Contains("missing.mtx: No such file"),
                       io::InputError);
  CHECK_THROWS_WITH_AS(io::ByteSource{files.path().string()}, doctest::Contains("directory"),
                       io::InputError);
  for (const int lacking : {EMFILE, ENFILE, ENOMEM}) {
    CHECK_THROWS_AS(io::throw_not_opened("g.mtx", lacking), std::system_error);
  }
}

TEST_SUITE_END();
}  // namespace pagerank::tests
