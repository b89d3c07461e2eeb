// Libraries that are opened when a kernel asks for them, not when the program starts.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/pagerank.hpp"
#include "gpu/shared_library.hpp"
#include "tests/program_text.hpp"
#include "tests/support.hpp"

namespace pagerank::tests {
TEST_SUITE_BEGIN("gpu");

TEST_CASE("a function is found in a library, and what is not there is a refusal that names it") {
  const gpu::SharedLibrary mathematics("libm.so.6");
  double (*floor)(double) = nullptr;
  mathematics.find(floor, "floor");
  CHECK(floor(2.5) == 2);
  CHECK_THROWS_WITH_AS(mathematics.find(floor, "no_such_name"), doctest::Contains("no_such_name"),
                       gpu::KernelRefused);
  CHECK_THROWS_WITH_AS(gpu::SharedLibrary("libnowhere.so.1"), doctest::Contains("libnowhere.so.1"),
                       gpu::KernelRefused);
}

TEST_CASE("programs start without the GPU's libraries") {
  struct Traced {  // the loader says what it would load, as ldd has it do, and starts nothing
    Traced() { setenv("LD_TRACE_LOADED_OBJECTS", "1", 1); }
    ~Traced() { unsetenv("LD_TRACE_LOADED_OBJECTS"); }
  };
  for (const std::string program : {"pagerank", "pagerank-bench"}) {
    CAPTURE(program);
    const RunResult run = [&] {
      const Traced traced;
      return run_program(program, {});
    }();
    CHECK(run.status == 0);
    CHECK(has(run.out, "libc.so"));
    for (const char* const library : {"libcu", "libnv"}) {
      CAPTURE(library);
      CHECK_FALSE(has(run.out, library));
    }
  }
}

TEST_CASE("without the library of a kernel that kernel is refused, and the others rank") {
  if (!has_gpu()) return;
  const TemporaryDirectory libraries;  // what is there is none
  write_file(libraries / "libcusparse.so.12", "no library");
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string kept = before != nullptr ? before : "";
  const auto run = [&](const std::string& program, std::vector<std::string> arguments) {
    setenv("LD_LIBRARY_PATH", (libraries / "").c_str(), 1);
    const RunResult result = run_program(program, arguments);
    before != nullptr ? setenv("LD_LIBRARY_PATH", kept.c_str(), 1) : unsetenv("LD_LIBRARY_PATH");
    return result;
  };
  for (const std::string kernel : {"cusparse", "cusparse-alg1"}) {
    CAPTURE(kernel);
    const RunResult refused =
        run("pagerank", {data("karate.mtx"), "--engine", "gpu", "--kernel", kernel});
    CHECK(refused.status == 5);
    CHECK(has(refused.err, "libcusparse.so.12 cannot be loaded"));
    CHECK(refused.out.empty());
  }
  CHECK(run("pagerank", {data("karate.mtx"), "--engine", "gpu"}).status == 0);
  const RunResult compared =
      run("pagerank-bench", {"solve", data("karate.mtx"), "--kernel", "cusparse", "--kernel",
                             "balanced", "--seconds", "0.001"});
  CHECK(compared.status == 0);
  CHECK(has(compared.out, "libcusparse.so.12 cannot be loaded"));
  CHECK(has(compared.out, "\nbalanced "));
}

TEST_SUITE_END();
}  // namespace pagerank::tests
