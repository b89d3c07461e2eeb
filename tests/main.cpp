#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "gpu/pagerank.hpp"
#include "tests/support.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  if (std::getenv("PAGERANK_TEST_ENGINES") != nullptr &&
      pagerank::tests::tested_engines() == "gpu") {
    const std::string reason = pagerank::gpu::unavailable_reason();
    if (!reason.empty()) {
      const bool required = pagerank::tests::is_required("PAGERANK_REQUIRE_GPU");
      std::cerr << (required ? "FAILED" : "SKIPPED") << ": the GPU tests need a GPU: " << reason
                << '\n';
      return required ? EXIT_FAILURE : skipped;
    }
  }
  doctest::Context context(argc, argv);
  return context.run();
}
